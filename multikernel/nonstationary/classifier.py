"""Classification with kernel weights that depend on the sample: nonstationary kernel combination."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from .._typing import Array
from .._validation import OldName, check_choice, check_number, check_positive_integer, warn_caller
from ..core.about import About
from ..core.callbacks import progress_of
from ..core.decisions import Machines, binary_problems, calibrate, calibrated, decide
from ..core.estimator import KernelEstimator, worst_status
from ..core.folds import random_source
from ..core.inputs import Samples, check_price, encode_labels, require_two_classes, weigh_samples
from ..core.optim.loop import Options, Status, carried
from ..views import make_bank
from .components import (
    ComponentContributions,
    by_kernel,
    check_posteriors,
    components_of,
    contributions_of,
    kernels_of_classes,
    merged,
)
from .solver.learn import (
    SOLVERS,
    Effort,
    MixturesResult,
    draw_starts,
    learn_mixtures,
    learn_separating,
    n_starts,
)
from .solver.mixtures import MODES, Mixtures, Pair, log_sum_exp, responsibilities

_AT_BOUND = 1e-3  # an interior point method leaves a rest, the larger the smaller C is
_CONSTANT = 1e-8  # relative: a diagonal that varies by less is constant
_ONE_THREAD = 3000  # pairs of a sample and a kernel
_TURN = 6e10  # arithmetic operations of a turn, all machines together; one that takes more counts as several
_FOR_STARTS = 0.25  # of all operations: what starts may take before no other is begun unasked


@dataclass(eq=False, repr=False)
class NonstationaryClassifier(ClassifierMixin, KernelEstimator):
    r"""Classifier with a mixture of kernel Gaussians for each class: kernel weights depend on the sample.

    Use it where each class has several mechanisms, each with its own kernel. The problem is not convex, and
    its cost limits it to about 2000 samples; for global weights, use :class:`MKLClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        One component for each and class; a kernel may be given several times. Kernels of unit diagonal are
        the safe choice: otherwise their scale, through :math:`k(x, x)/2`, is one of variance.
    class_kernels : dict, default=None
        From class label to the list of names of the kernels that the mixture of the class has; classes that
        are not named, and all by default, have every kernel. Names are those of ``view_names_``. The mixture
        of the rest, where there are more than two classes, has the kernels of any other class.
    C : float or numpy.inf, default=10.0
        Penalty on margin violations; infinity is the hard margin. One kernel alone gives the SVM with
        twice this C.
    method : {"qp", "full", "hard"}, default="qp"
        ``"qp"``: the problem above, whose convex problem is the published quadratic program (see Notes).
        ``"full"``: the log-sum-exp also of the other class; less inclined to mix kernels. ``"hard"``: the
        maximum for both, also in `decision_function`.
    margin : float > 0, default=1.0
        The margin :math:`\gamma`; with method "qp" the logarithm of the number of kernels of the other class
        is added, without which the best mixtures would be constant. There a small margin mixes the kernels,
        a large one selects.
    n_init : int or "auto", default="auto"
        Starts, of which that with the least :math:`\Phi` is kept; "auto": 1, but 8 if a kernel repeats, and
        fewer where they would take more than a quarter of the work that `max_iter` allows.
    max_iter : int, default=30
        Maximum number of turns from each start. Turns of more than 6e10 arithmetic operations, those of all
        classifiers together, count as several: with the default no start takes more than some 2e12.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    tol : float, default=1e-3
        The relative distance of :math:`\Phi` to what one more turn could reach, at which to stop if it is
        falling. Where a kernel repeats, 1e-6 is better: on the way lie points at which turns gain little.
    solver : {"ipm", "smo"}, default="ipm"
        Of the convex problem: an interior point method on the constraints that matter; or sequential minimal
        optimisation with Newton steps, as in the paper (not for method "full"), often several times faster,
        which leaves to the former what it cannot solve.
    class_weight : dict or "balanced", default=None
        Multiplies C class by class.
    probability : bool, default=False
        Whether `predict_proba` is to be calibrated, on five folds, which takes five more fits.
    n_jobs : int, default=None
        Classes solved at the same time, in threads.
    callback : callable, default=None
        Called with a dict after each turn; a true answer stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int, default=0
        1 writes progress to standard error.
    random_state : int, RandomState or None, default=None
        Of the starts and of the calibration's folds; None always means the same.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        The mean of the weights over the training samples, both mixtures and all classifiers.
    machine_weights_ : array of shape (n_machines, n_kernels)
        The same for each classifier.
    view_names_, machine_names_ : list of str
    dual_coef_ : array of shape (n_machines, 2, n_kernels, n_support)
        Coefficients of the components of the positive and of the negative mixture.
    offsets_ : array of shape (n_machines, 2, n_kernels)
        :math:`a^\pm`; minus infinity for components without use, and for kernels that a mixture has not.
    support_ : array of shape (n_support,)
        Indices of the support samples.
    classes_ : array of shape (n_classes,)
    objective_ : float, :math:`\Phi` (sum over classifiers)
    dual_gap_ : float
        How far, relative to Φ (or to min(1, C Σ γ), if Φ is less), the objective is above the optimum of the
        convex problem that the model's own posteriors pose, the maximum over classifiers: zero at a
        stationary point. Infinite where nothing was certified.
    n_iter_ : int, turns
    n_fallbacks_ : int, convex problems, of all starts, that SMO left to the interior point method
    start_objectives_ : list of array, :math:`\Phi` reached from each start, for each classifier
    status_ : str
    history_ : list of dict, the turns of the start that was kept; ``objective`` never rises, ``gap`` is that
        of the turn before
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Where X has column names.

    Examples
    --------
    >>> from multikernel.nonstationary import NonstationaryClassifier
    >>> from multikernel.kernels import Linear, Polynomial
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (200, 2))
    >>> height = np.where(X[:, 0] < 0, X[:, 0], X[:, 0] ** 2)
    >>> y = X[:, 1] > height
    >>> views = [("line", Linear()), ("parabola", Polynomial(2))]
    >>> model = NonstationaryClassifier(views, C=1e4).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> positive, negative = model.mixture_weights(X)
    >>> positive.shape, bool(np.allclose(positive.sum(axis=1), 1.0))
    ((200, 2), True)

    Notes
    -----
    The score is

    .. math::

        f(x) = \ln \sum_m e^{F^+_m(x)} - \ln \sum_m e^{F^-_m(x)}, \qquad
        F^\pm_m(x) = a^\pm_m + \langle w^\pm_m, \phi_m(x) \rangle - \tfrac12 k_m(x, x)

    where each class has one component for each of its kernels :math:`k_m` with feature map :math:`\phi_m`.
    Fitting lowers

    .. math::

        \Phi = \tfrac12 \sum_m \|w^\pm_m\|^2 + C \sum_t \bigl[\gamma_t - \ln \sum_m e^{F^{y_t}_m(x_t)}
        + \max_m F^{-y_t}_m(x_t)\bigr]_+

    over :math:`w` and the offsets :math:`a`, alternately of the posteriors of the components and a convex
    problem (latent maximum entropy discrimination; the concave–convex procedure). A kernel's weight at
    :math:`x` is its posterior, :math:`\nu^\pm_m(x) = e^{F^\pm_m(x)} / \sum_r e^{F^\pm_r(x)}`.

    The paper maximises the dual of the convex problem without the entropy of the other class ("qp"). It does
    not give its margin :math:`\gamma`, and its dual lacks the terms of :math:`k(x, x)`, which cancel for
    kernels of unit diagonal only; the margin's logarithm above and these terms are ours (see the page of
    errata in the documentation).

    The problem is not convex: another start may end elsewhere. Where kernels differ the uniform start is a
    good one; where a kernel repeats, starts decide. On scaled data the accuracy is that of
    :class:`MKLClassifier` and of the plain sum of the kernels; what the model adds is *where* which kernel
    matters, and boundaries of pieces that no one kernel has.

    Very narrow Gaussians (kernel matrices near the identity) with a large C are a trap, in methods "full" and
    "hard" above all: they have the largest margin and predict the majority.

    Precomputed kernels do not tell :math:`k(x, x)` of a new sample, which prediction needs: their diagonals
    must be constant (unit diagonal) where there are several, and new samples are taken to have the same.

    Time: an iteration of the interior point method factors a matrix of the active pairs of a sample and a
    kernel, at most n times n_kernels of them; memory: two such matrices beside the kernels.

    Equal rows with equal labels are one sample with the sum of their weights, and the order of the rows does
    not matter.

    References
    ----------
    Lewis, Jebara & Noble, Nonstationary kernel combination, ICML 2006.
    """

    about = About(
        family="localized",
        problem=(
            "f(x) = ln Σ e^{F⁺_m(x)} − ln Σ e^{F⁻_m(x)}: a mixture of kernel Gaussians for each class, with "
            "a margin"
        ),
        solver="alternates posteriors and a convex program (interior point); stationarity",
        cost=("up to (n P)³/3 for each interior-point step; memory 2 (n P)²; up to about 2000 samples"),
        use="Two or more mechanisms, each with its own kernel; shows where each of them applies.",
        reference="Lewis, Jebara & Noble 2006",
    )
    certificate = "stationarity"
    _storage_options = ("psd",)
    _gap_name = "relative distance to a stationary point"

    kernels: Any = "auto"
    _: KW_ONLY
    class_kernels: Any = None
    C: float = 10.0
    method: str = "qp"
    margin: float = 1.0
    n_init: Any = "auto"
    max_iter: int = 30
    max_time: float | None = None
    tol: float = 1e-3
    solver: str = "ipm"
    class_weight: Any = None
    probability: bool = False
    n_jobs: int | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    # ------------------------------------------------------------------ fit
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, posteriors: Any = None
    ) -> "NonstationaryClassifier":
        """Learn the mixtures of both classes, or of each class and the rest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        sample_weight : array of shape (n_samples,), default=None
            Multiplies C sample by sample.
        posteriors : array of shape (n_samples, n_kernels) or dict, default=None
            Where to start: the share of each kernel in each sample, of sum 1, in the mixture of the sample's
            own class (and in that of the rest); or a dict from class label to (n_kernels,) shares for all
            samples of the class, uniform for classes that are not named. It is the first of the `n_init`
            starts, and with "auto" the only one.
        """
        self._check_parameters()
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        weights = weigh_samples(self.class_weight, self.classes_, codes, sample_weight)
        require_two_classes(self.classes_, codes[weights > 0])
        samples = self._distinct(X, codes, weights)
        self._check_storage()
        self._bank = make_bank(self.kernels)
        Ks = np.ascontiguousarray(self._fit_stack(X, samples), float)
        self._tell_of_kernels(Ks)
        self._diagonals = constant_diagonals(Ks, self.view_names_) if self._precomputed else None
        allowed = kernels_of_classes(self.class_kernels, self.classes_, self.view_names_)
        start = None
        if posteriors is not None:
            given = check_posteriors(posteriors, codes, self.classes_, allowed, self.view_names_)
            start = merged(given, samples)
        problems = binary_problems(codes[samples.rows], self.classes_, "ovr")
        kernels = [components_of(allowed, codes[samples.rows], p.signs[0]) for p in problems]
        source = random_source(0 if self.random_state is None else self.random_state)
        seeds = source.randint(2**31, size=len(problems))
        solve = delayed(carried(self._solve))
        effort = self._effort(len(problems))
        machines = [
            self._mixtures(Ks, k, p.signs[0], samples.weights) for k, p in zip(kernels, problems, strict=True)
        ]
        jobs = (
            solve(m, p.names[0], start, int(s), effort)
            for m, p, s in zip(machines, problems, seeds, strict=True)
        )
        # Threads of the linear algebra wait for each other longer than such matrices take.
        with threadpool_limits(limits=1 if Ks.shape[0] * Ks.shape[1] <= _ONE_THREAD else None):
            results = Parallel(n_jobs=self.n_jobs, require="sharedmem")(jobs)
        self._store(machines, problems, results, samples)
        self._calibration = calibrate(self, X, y, sample_weight, posteriors=posteriors)
        return self

    def _check_parameters(self) -> None:
        check_price(self.C)
        check_choice("method", self.method, MODES)
        check_choice("solver", self.solver, SOLVERS)
        self._check_numerics()
        if self.solver == "smo" and self.method == "full":
            raise ValueError(
                'solver="smo" solves the quadratic problems of method="qp" and method="hard"; got "full". '
                'Use solver="ipm".'
            )
        if not check_number("margin", self.margin) > 0.0:
            raise ValueError(
                f"margin must be positive; got {self.margin!r}. With none, mixtures with equal output "
                f"for all samples are optimal. Use margin=1.0."
            )
        if self.n_init != "auto":
            check_positive_integer("n_init", self.n_init)

    def _effort(self, n_machines: int) -> Effort:
        """What each machine may take; starts that were asked for are all tried."""
        turns = self.max_iter * _TURN / n_machines
        return Effort(turns, _FOR_STARTS * turns if self.n_init == "auto" else np.inf)

    def _solve(
        self, mixtures: Mixtures, name: str, start: Array | None, seed: int, effort: Effort
    ) -> MixturesResult:
        """The mixtures of one class and the rest."""
        count = self.n_init if self.n_init != "auto" else n_starts(mixtures) if start is None else 1
        given = [] if start is None else [_on_sides(start, mixtures)]
        generator = np.random.default_rng(seed)
        starts = given + draw_starts(mixtures, int(count) - len(given), generator)
        label = "" if self.classes_.size == 2 else f"{name}: "
        options = Options(tol=self.tol, max_iter=self.max_iter, callback=progress_of(self, label))
        if np.isfinite(self.C):
            return learn_mixtures(mixtures, starts, solver=self.solver, options=options, effort=effort)
        result = learn_separating(mixtures, starts, solver=self.solver, options=options, effort=effort)
        if result is None:
            raise ValueError(
                "the hard margin (C=inf) needs separable classes; no mixtures of these kernels were found "
                f"that separate {name!r} from the rest. Use a finite C, richer kernels, or a "
                "larger n_init; where the classes nearly touch, scale the columns or normalise the kernels."
            )
        return result

    def _mixtures(self, Ks: Array, kernels: Pair, signs: Array, weights: Array) -> Mixtures:
        margins = np.full(signs.size, float(self.margin))
        if self.method == "qp":  # what the other class may gain by mixing
            margins += np.log(np.where(signs > 0.0, kernels[1].size, kernels[0].size))
        return Mixtures(
            Ks,
            kernels=kernels,
            rows=(np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)),
            bounds=weights * self.C if np.isfinite(self.C) else np.ones(signs.size),
            margins=margins,
            mode=self.method,
        )

    def _store(
        self,
        machines: list[Mixtures],
        problems: list[Machines],
        results: list[MixturesResult],
        samples: Samples,
    ) -> None:
        """Keep the mixtures in compact form: support rows and used kernels only."""
        Ks, kernels = machines[0].Ks, [m.kernels for m in machines]
        points = [r.point for r in results]

        def stacked(parts: list[Pair], missing: float) -> Array:
            return np.stack([by_kernel(p, k, len(Ks), missing) for p, k in zip(parts, kernels, strict=True)])

        coefficients = stacked([p.coefficients for p in points], 0.0)
        spread = samples.spread(coefficients.reshape(-1, coefficients.shape[-1]))
        self.support_ = np.flatnonzero(spread.any(axis=0))
        self.dual_coef_ = spread.reshape(*coefficients.shape[:3], -1).take(self.support_, axis=-1)
        self.offsets_ = stacked([p.offsets for p in points], -np.inf)
        self.machine_names_ = [name for problem in problems for name in problem.names]
        means = [tuple(self._shares(F).mean(axis=0) for F in p.scores) for p in points]
        self.machine_weights_ = stacked([(plus, minus) for plus, minus in means], 0.0).mean(axis=1)
        self.kernel_weights_ = self.machine_weights_.mean(axis=0)
        self.objective_ = float(sum(r.objective for r in results))
        self.dual_gap_ = float(max(r.gap for r in results))
        self.n_iter_ = max(r.n_iter for r in results)
        self.n_fallbacks_ = sum(r.n_fallbacks for r in results)
        self.start_objectives_ = [np.array(r.objectives) for r in results]
        self.status_ = worst_status([r.status for r in results])
        self.history_ = [{**entry, "machine": k} for k, r in enumerate(results) for entry in r.history]
        kept = np.flatnonzero(coefficients.any(axis=(0, 1, 2)))
        kept = kept if kept.size else np.array([0])  # offsets alone
        self._coefficients = np.ascontiguousarray(coefficients[..., kept])  # as a pickle keeps it
        active = np.flatnonzero(np.isfinite(self.offsets_).any(axis=(0, 1)))
        self._bank = self._bank.restrict(samples.rows[kept] if self._precomputed else kept, active)
        if any(r.status == Status.INDEFINITE or r.suspicious for r in results):
            self._require_psd(Ks, range(len(Ks)))
        self._warn_unless_converged()
        warn_of_mixtures(self, results, samples.weights)

    # ------------------------------------------------------------------ predict
    def _component_scores(self, X: Any) -> Array:
        """F of every sample, machine, mixture and kernel: (n_samples, n_machines, 2, n_kernels)."""
        return np.concatenate([self._scores_of(*parts) for parts in self._by_batches(X, self._parts)])

    def _scores_of(self, expansions: Array, diagonals: Array) -> Array:
        return expansions - 0.5 * diagonals[:, None, None, :] + self.offsets_

    def _parts(self, X: Any) -> tuple[Array, Array]:
        """⟨w, φ(x)⟩ (n_samples, n_machines, 2, n_kernels) and k(x, x) (n_samples or 1, n_kernels)."""
        diagonals = self._self_similarities(X)
        n_machines, _, n_kernels, n_kept = self._coefficients.shape
        blocks = {
            m: K @ self._coefficients[:, :, m].reshape(-1, n_kept).T for m, K in self._bank.iter_kernels(X)
        }
        expansions = np.zeros((len(next(iter(blocks.values()))), n_machines, 2, n_kernels))
        for m, block in blocks.items():
            expansions[..., m] = block.reshape(-1, n_machines, 2)
        return expansions, diagonals

    def _self_similarities(self, X: Any) -> Array:
        """k(x, x), (n_samples, n_kernels); one row for all where the kernels are precomputed."""
        if not self._precomputed:
            return np.asarray(self._bank.self_similarities(X))
        if self._diagonals is None:
            raise ValueError(
                "predictions need k(x, x) of new samples, which precomputed kernels tell only if it is the "
                "same for all; the diagonals of the kernels at fit were not. Divide each kernel, that of new "
                "samples too, by sqrt(k(x, x) k(z, z)), or give the kernels as functions of a table."
            )
        return self._diagonals[None, :]

    def _shares(self, scores: Array) -> Array:
        if self.method == "hard":
            return np.eye(scores.shape[-1])[scores.argmax(axis=-1)]
        return responsibilities(scores)

    def decision_function(self, X: Any) -> Array:
        """The log-ratio of the mixtures.

        Returns
        -------
        array of shape (n_samples,) for two classes, positive for ``classes_[1]``; else (n_samples,
        n_classes), each class against the rest
        """
        scores = self._component_scores(X)
        total = scores.max(axis=-1) if self.method == "hard" else log_sum_exp(scores)
        ratio = total[..., 0] - total[..., 1]
        return ratio[:, 0] if self.classes_.size == 2 else ratio

    def predict(self, X: Any) -> Array:
        """The class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: array of shape (n_samples, n_train, n_kernels).
        """
        check_is_fitted(self)
        return decide(self.decision_function(X), self.classes_)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities (n_samples, n_classes): calibrated with ``probability=True``.

        Otherwise those that the log-ratio stands for (the softmax of the log-ratios for more classes), which
        order the samples as well but are not calibrated.
        """
        scores = self.decision_function(X)
        if self.probability:
            return calibrated(self, scores)
        return responsibilities(
            np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores
        )

    kernel_weights = OldName("mixture_weights")
    sample_weights_name: ClassVar[str] = (
        "weight of each view at the sample, the mean of the mixtures of a class and of the others"
    )

    def sample_kernel_weights(self, X: Any) -> Array:
        """The weight of each kernel at each sample.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        weights : array of shape (n_samples, n_kernels)
            The mean of :math:`\\nu^+` and :math:`\\nu^-`, see `mixture_weights`, and of the classifiers;
            ``kernel_weights_`` is the mean over the training samples.
        """
        return np.asarray(self._shares(self._component_scores(X)).mean(axis=(1, 2)))

    def mixture_weights(self, X: Any) -> tuple[Array, Array]:
        """The weight of each kernel at each sample, in the mixture of the class and in that of the other.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        positive, negative : arrays of shape (n_samples, n_kernels), or (n_samples, n_machines, n_kernels)
            :math:`\\nu^+` and :math:`\\nu^-`, of sum 1 over the kernels; two classes: the mixture of
            ``classes_[1]`` and that of ``classes_[0]``; more: of each class, and of the rest.
        """
        weights = self._shares(self._component_scores(X))
        if self.classes_.size == 2:
            weights = weights[:, 0]
        return weights[..., 0, :], weights[..., 1, :]

    def component_contributions(self, X: Any) -> ComponentContributions:
        """The decision at each sample as a sum over the components, with the entropies of their weights.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        ComponentContributions
            Arrays of signed terms whose sum is `decision_function`: what the training samples say through
            each kernel, the kernel's own k(x, x), the offset, and the entropy of the weights. One precomputed
            kernel alone may have any diagonal, which cancels: its mean stands for k(x, x).

        Examples
        --------
        >>> from multikernel.kernels import Gaussian, Linear
        >>> X = np.random.default_rng(0).normal(size=(30, 2))
        >>> model = NonstationaryClassifier([Linear(), Gaussian()]).fit(X, X[:, 0] > 0)
        >>> parts = model.component_contributions(X)
        >>> parts.similarity.shape, parts.entropy.shape
        ((30, 2, 2), (30, 2))
        >>> bool(np.allclose(parts.total, model.decision_function(X)))
        True
        """
        batches = [
            contributions_of(self._shares(self._scores_of(E, D)), E, D, self.offsets_)
            for E, D in self._by_batches(X, self._parts)
        ]
        joined = {
            f.name: np.concatenate([getattr(batch, f.name) for batch in batches])
            for f in fields(ComponentContributions)
        }
        if self.classes_.size == 2:
            joined = {name: values[:, 0] for name, values in joined.items()}
        return ComponentContributions(**joined)

    def pair_weights(self, X: Any) -> Array:
        r"""The weight of each kernel for each pair of a sample and a support sample.

        With :math:`\lambda_t = \tfrac12 \sum |s_t|`, half the sum of the absolute ``dual_coef_`` of support
        sample :math:`t` over both mixtures and all kernels, and :math:`y_t = \pm 1`,

        .. math::

            f(x) = \sum_t y_t \lambda_t \sum_m \nu_{m,t}(x) k_m(x_t, x) + b(x)

        where :math:`b(x)` are the other terms of `component_contributions`.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        array of shape (n_samples, n_support, n_kernels), or (n_samples, n_machines, n_support, n_kernels)
            :math:`\nu_{m,t}(x) \ge 0`: the posteriors of the kernel at :math:`x` times those at
            :math:`x_t`, summed over both mixtures; 0 for support samples of other classifiers.

        Examples
        --------
        >>> from multikernel.kernels import Gaussian, Linear
        >>> X = np.random.default_rng(0).normal(size=(30, 2))
        >>> model = NonstationaryClassifier([Linear(), Gaussian()]).fit(X, X[:, 0] > 0)
        >>> model.pair_weights(X[:5]).shape == (5, model.support_.size, 2)
        True
        """
        shares = self._shares(self._component_scores(X))
        sizes = np.abs(self.dual_coef_)
        totals = 0.5 * sizes.sum(axis=(1, 2))
        at_support = sizes / np.where(totals > 0.0, totals, 1.0)[:, None, None, :]
        pairs = np.einsum("nkpm,kpmt->nktm", shares, at_support)
        return pairs[:, 0] if self.classes_.size == 2 else pairs

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_}


def _on_sides(start: Array, mixtures: Mixtures) -> Pair:
    """Posteriors (n, n_kernels) of the positive and of the negative samples over their components."""
    positive, negative = (
        start[np.ix_(rows, kernels)] for rows, kernels in zip(mixtures.rows, mixtures.kernels, strict=True)
    )
    return positive, negative


# ------------------------------------------------------------------ warnings
def warn_of_mixtures(model: Any, results: Sequence[MixturesResult], weights: Array) -> None:
    """Warn of machines whose mixtures are constant, or whose samples are all at their bound."""
    if model.n_fallbacks_:
        warn_caller(
            f'solver="smo" stalled on {model.n_fallbacks_} of the convex problems; the interior point method '
            'solved them instead, as exactly. solver="ipm" avoids the detour.'
        )
    for name, result in zip(model.machine_names_, results, strict=True):
        used = sum(np.abs(s).sum(axis=0) for s in result.point.coefficients) / 2.0
        if result.objective > (1.0 + _AT_BOUND) * result.indifferent:
            warn_caller(
                f"the mixtures for class {name!r} are worse than mixtures with equal output for all samples "
                f"(objective {result.objective:.3g}, above {result.indifferent:.3g}): the "
                "kernels are too different in size. Normalise them to unit diagonal, or scale the columns."
            )
        elif not used.any():
            warn_caller(
                f"the mixtures for class {name!r} use no sample: the margin is met without. Raise margin, or "
                "normalise the kernels to unit diagonal."
            )
        elif np.isfinite(model.C) and (used >= (1.0 - _AT_BOUND) * model.C * weights).all():
            warn_caller(
                f"every sample is at its bound C={model.C:g} for class {name!r}: all fall short of the "
                "margin, and the offsets are determined but for an interval. Raise C."
            )


# ------------------------------------------------------------------ k(x, x) where the kernels are precomputed
def constant_diagonals(Ks: Array, names: list[str]) -> Array | None:
    """The diagonals of precomputed kernels, (n_kernels,), if each is constant; otherwise a warning and None.

    One kernel alone is let pass: what its diagonal adds to both classes cancels.
    """
    diagonals = np.einsum("mtt->mt", Ks)
    low, high = diagonals.min(axis=1), diagonals.max(axis=1)
    varying = np.flatnonzero(high - low > _CONSTANT * high)
    if varying.size and len(Ks) > 1:
        m = varying[0]
        warn_caller(
            f"kernel {names[m]!r} has a diagonal from {low[m]:.3g} to {high[m]:.3g}: predictions need "
            "k(x, x) of new samples, which precomputed kernels do not tell. This model will refuse them. "
            "Divide each kernel, that of new samples too, by sqrt(k(x, x) k(z, z))."
        )
        return None
    return np.asarray(diagonals.mean(axis=1))
