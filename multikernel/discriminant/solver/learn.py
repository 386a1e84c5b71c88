"""Entry point for discriminant kernel learning: exact or approximate."""

from ...core.optim.loop import Options
from .diagonal import learn_diagonal_discriminant
from .exact import learn_exact
from .problem import DiscriminantProblem, DiscriminantResult

__all__ = ["DiscriminantProblem", "DiscriminantResult", "learn_discriminant"]


def learn_discriminant(problem: DiscriminantProblem, *, options: Options | None = None) -> DiscriminantResult:
    """Learn the kernel weights, and λ where it is not given, of discriminant analysis.

    Parameters
    ----------
    problem : DiscriminantProblem
    options : Options, optional
        By default a relative gap of 1e-8 within 100 iterations.

    Returns
    -------
    DiscriminantResult

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> codes = np.arange(40) % 2
    >>> good, bad = rng.normal(size=(2, 40, 3))
    >>> good[:, 0] += 4 * codes
    >>> result = learn_discriminant(DiscriminantProblem(np.array([good @ good.T, bad @ bad.T]), codes, 0.1))
    >>> bool(result.shares[0] > 0.9), result.gap <= 1e-8
    (True, True)
    """
    options = options or Options(tol=1e-8, max_iter=100)
    if problem.formulation == "approximate" and problem.codes.max() > 1:
        return learn_diagonal_discriminant(problem, options)
    return learn_exact(problem, options)
