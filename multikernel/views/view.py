"""A view: a named block of columns with its kernel; and how kernels, or features, become views."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

from multikernel._validation import check_choice, check_positive_integer, check_rank
from multikernel.kernels import (
    AdditiveLaplacian,
    Chain,
    FunctionKernel,
    Gaussian,
    Kernel,
    Kronecker,
    Laplacian,
    Linear,
    Pairwise,
    Polynomial,
    Precomputed,
    Transform,
    UnitDiagonal,
    UnitTrace,
    UnitVariance,
    as_kernel,
    as_transforms,
)
from multikernel.kernels.expressions import parse_kernel
from multikernel.views.columns import resolve_columns
from multikernel.views.tables import MultiTable

KERNEL_CHOICES = ("auto", "rich", "precomputed")
APPROXIMATIONS = ("nystroem", "random_features", "cholesky")
_MOST_SHOWN = 12  # entries of a list in the text of a view


class MissingViewsWarning(UserWarning):
    """Samples lack views, and ``missing`` is not set."""


class KernelWarning(UserWarning):
    """A fit finds kernels, or what was learned on them, that are unlikely to be of use.

    Silence it by its name: ``warnings.filterwarnings("ignore", category=KernelWarning)``.
    """


@dataclass(frozen=True)
class View:
    """A feature block with its kernel: k(x, z) = normalize(transforms(kernel(x[columns], z[columns]))).

    By default the columns are standardized where the kernel reads numbers of any sign, and the kernel is
    divided by the variance of the training rows in its feature space, so that neither the units of columns
    nor the scale of a kernel decides what a view weighs. The rule is the same for views, for bare kernels in
    a list and for views in a TOML file. It never applies to ``kernels="precomputed"``, nor to `Precomputed`,
    `Pairwise` and `Kronecker` kernels, nor to a kernel that is called. ``standardize=False, normalize=None``
    turns it off, here for one view, in a :class:`KernelBank` for all views that do not say otherwise.
    Estimators that learn with one kernel, such as :class:`KernelKNNClassifier`, turn it off themselves,
    unless the view or the bank asks for it.

    Parameters
    ----------
    name : str
    kernel : Kernel or callable
        A bare function ``f(X, Z)`` becomes a `FunctionKernel`.
    columns : None, str, int, list of either, slice, boolean mask or callable, default=None
        As in scikit-learn's ColumnTransformer; None is all columns.
    transforms : transform, name, or sequence of either, default=()
        ``"center"``, ``"unit_diagonal"``, ``"unit_trace"``, ``"unit_variance"``, ``"clip"``, ``"shift"``,
        applied in the order given.
    standardize : bool, "rank" or "auto", default="auto"
        How the columns are scaled before the kernel reads them. They must be numbers; a function ``f(X, Z)``
        is then handed the scaled table.

        - True: each column minus its mean and divided by its standard deviation, both of the training rows;
          constant columns are centred only. Sparse columns are divided only, so that zeros stay zeros;
        - "rank": each value is replaced by the share of training rows below it, those with the same value
          counted half, so that neither units nor long tails matter;
        - False: not at all;
        - "auto": True for `Linear`, `Polynomial`, `Gaussian`, `Laplacian`, `AdditiveLaplacian`, `Cosine`,
          `Sigmoid` and what is made of these, and False for all other kernels.
    normalize : {"variance", "diagonal", "trace", "auto"} or None, default="auto"
        What the kernel is divided by after the transforms, measured on the training Gram K:

        - "variance": mean of the diagonal of K − mean of K, the variance in feature space;
        - "diagonal": √(k(x, x) k(z, z)), so that k(x, x) is 1;
        - "trace": mean of the diagonal of K;
        - None: nothing;
        - "auto": "variance"; None for `Precomputed`, `Pairwise` and `Kronecker` kernels, and where the
          transforms hold a normalization already.
    approximation : None, "nystroem", "random_features" or "cholesky", default=None
        How factors Z with Z Zᵀ ≈ K stand in for the Gram matrix, see :class:`LowRankBank`; None leaves the
        choice to the bank. A view that names one goes with ``gram="low_rank"`` or ``"auto"``.
    rank : int, float or None, default=None
        How many columns Z has, or, between 0 and 1, the largest relative trace error 1 − tr(Z Zᵀ) / tr(K):
        of an estimator over all training rows, of a :class:`LowRankBank` alone on the rows that it is fitted
        on. None leaves the choice to the estimator or the bank.
    table : str, default=None
        Which of several tables the columns are in, where X is a dict of tables or a :class:`MultiTable`. None
        is the one that has the columns; without columns, the table of the view's own name, and where there is
        none, the view stands for one view of each table.
    keep : bool or float in (0, 1), default=False
        Whether the weight of the view has a lower bound, so that it is never zero (:class:`MKLClassifier`,
        :class:`MKLRegressor`, :class:`MKLRidge` and :class:`MKLOneClass`, on a Gram stack):

        - False: no lower bound;
        - True: half of an equal share, 1 / (2 · number of kernels);
        - float: this share of the largest weight that the view can have.
    encode : bool, default=False
        Whether the columns may hold categories and gaps, for a kernel of numbers with a `standardize` that is
        not False. A column of categories becomes an indicator column for each value that occurs twice at
        least, the 100 most frequent, a missing one among them; a gap in a column of numbers becomes the mean,
        and two indicator columns mark it. Indicator columns are not divided by their standard deviations.

    Examples
    --------
    >>> View("shape", Gaussian(gamma=0.5), columns=["width", "height"], transforms="center")
    View(name='shape', kernel=Gaussian(gamma=0.5), columns=['width', 'height'], transforms=(Center(),))
    >>> View("size", Linear(), columns=0, standardize=False, normalize=None)
    View(name='size', kernel=Linear(), columns=0, standardize=False, normalize=None)
    >>> View("all", Gaussian(gamma=1.0), approximation="cholesky", rank=0.01)
    View(name='all', kernel=Gaussian(gamma=1.0), approximation='cholesky', rank=0.01)
    """

    name: str
    kernel: Kernel
    columns: Any = None
    transforms: Any = ()
    standardize: bool | str = "auto"
    approximation: str | None = None
    rank: int | float | None = None
    table: str | None = None
    keep: bool | float = False
    normalize: str | None = "auto"
    encode: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"the name of a view must be a non-empty string; got {self.name!r}.")
        try:
            object.__setattr__(self, "kernel", read_kernel(self.kernel))
            object.__setattr__(self, "transforms", as_transforms(self.transforms))
        except (TypeError, ValueError) as error:
            raise type(error)(f"view {self.name!r}: {error}") from error
        if isinstance(self.columns, np.ndarray):
            object.__setattr__(self, "columns", self.columns.tolist())  # so that views compare
        label = f"view {self.name!r}"
        object.__setattr__(self, "standardize", check_standardize(self.standardize, f"{label}: "))
        check_normalize(self.normalize, f"{label}: ")
        if self.standardize in (True, "rank"):
            self._require_numbers()
        if not isinstance(self.encode, (bool, np.bool_)):
            raise TypeError(f"{label}: encode must be True or False; got {self.encode!r}.")
        if self.encode and not self.standardized:
            raise ValueError(
                f"{label}: encode=True needs columns that are scaled; got standardize={self.standardize!r} "
                f"with {self.kernel!r}. Use standardize=True or 'rank', or the kernel Mixed()."
            )
        object.__setattr__(self, "keep", self._checked_keep())
        self._check_approximation()

    def _checked_keep(self) -> bool | float:
        keep = self.keep
        if isinstance(keep, (bool, np.bool_)):
            return bool(keep)
        if not isinstance(keep, (float, np.floating)) or not 0.0 < keep < 1.0:
            raise ValueError(
                f"view {self.name!r}: keep must be True, False, or a share above 0 and below 1; got "
                f"{keep!r}. Use keep=True for half of an equal share."
            )
        return float(keep)

    def _require_numbers(self) -> None:
        """Refuse to standardise columns that the kernel does not read as numbers."""
        label = f"view {self.name!r}"
        if has_part(self.kernel, Precomputed):
            raise ValueError(
                f"{label}: standardize={self.standardize!r} needs a kernel of numeric columns, but "
                f"{self.kernel!r} reads positions into a precomputed matrix. Leave standardize out."
            )
        if has_part(self.kernel, Pairwise):
            raise ValueError(
                f"{label}: standardize={self.standardize!r} would measure the two objects of a pair by "
                f"different units, but {self.kernel!r} compares one with the other. Scale the objects before."
            )
        if not self.kernel._reads_numbers:
            raise ValueError(
                f"{label}: standardize={self.standardize!r} needs a kernel of numeric columns, but "
                f"{self.kernel!r} reads its columns as they are. Leave standardize out."
            )

    # --- the rule for what a view does not say -----------------------------------------------------

    @property
    def standardized(self) -> bool | str:
        """How columns are scaled: True, False or "rank"."""
        return self.kernel._standardizes if self.standardize == "auto" else self.standardize

    @property
    def normalization(self) -> str | None:
        """What the kernel is divided by: "variance", "diagonal", "trace" or nothing, None."""
        if self.normalize != "auto":
            return self.normalize
        is_given = any(has_part(self.kernel, kind) for kind in (Precomputed, Pairwise, Kronecker))
        return None if is_given or _normalizes(self.transforms) else "variance"

    @property
    def steps(self) -> tuple[Transform, ...]:
        """The transforms of the Gram matrix, and the normalization after them."""
        normalization = self.normalization
        return self.transforms if normalization is None else (*self.transforms, _NORMALIZE[normalization])

    def with_defaults(self, standardize: bool | str = "auto", normalize: str | None = "auto") -> View:
        """The view, with these values where it says "auto" itself."""
        changes: dict[str, Any] = {"standardize": standardize, "normalize": normalize}
        open_ = {name: value for name, value in changes.items() if getattr(self, name) == "auto" != value}
        return replace(self, **open_) if open_ else self

    def _check_approximation(self) -> None:
        label = f"view {self.name!r}"
        if self.approximation is not None:
            check_choice(f"{label}: approximation, where it is not None,", self.approximation, APPROXIMATIONS)
        object.__setattr__(self, "rank", check_rank(f"{label}: rank", self.rank))
        if self.approximation == "random_features":
            require_number_of_features(label, self.rank)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep`, those of the kernel too."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return (self.kernel.get_params() if deep else {}) | own

    def set_params(self, **changes: Any) -> View:
        """A new view with other parameters, of the view or of its kernel; this one is unchanged.

        Examples
        --------
        >>> View("shape", Gaussian(gamma=0.5)).set_params(gamma=2.0, columns=[0, 1])
        View(name='shape', kernel=Gaussian(gamma=2.0), columns=[0, 1])
        """
        own = {field.name for field in fields(self)}
        view = replace(self, **{name: value for name, value in changes.items() if name in own})
        inner = {path.removeprefix("kernel__"): v for path, v in changes.items() if path not in own}
        try:
            return replace(view, kernel=view.kernel.set_params(**inner)) if inner else view
        except (TypeError, ValueError) as error:
            raise type(error)(f"view {self.name!r}: {error}") from None

    def __sklearn_clone__(self) -> View:
        return self  # immutable

    def __repr__(self) -> str:
        given = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        shown = [f"{name}={_in_short(value)}" for name, value, default in given if not _same(value, default)]
        return f"View({', '.join(shown)})"


def _in_short(value: Any) -> str:
    """A value as it is written; of long lists, such as the columns of a table, the number and the ends.

    Examples
    --------
    >>> _in_short(["a", "b"]), _in_short(list(range(400)))
    ("['a', 'b']", '<400: 0, 1, 2, ..., 399>')
    """
    if not isinstance(value, (list, tuple)) or len(value) <= _MOST_SHOWN:
        return repr(value)
    return f"<{len(value)}: {', '.join(map(repr, value[:3]))}, ..., {value[-1]!r}>"


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str) and value == default)


_NORMALIZE: dict[str, Transform] = {
    "variance": UnitVariance(),
    "diagonal": UnitDiagonal(),
    "trace": UnitTrace(),
}


def check_standardize(standardize: Any, label: str = "") -> bool | str:
    """True, False, "rank" or "auto"; `label` is what stands before the name in the message."""
    if isinstance(standardize, str) and standardize in ("auto", "rank"):
        return standardize
    if not isinstance(standardize, (bool, np.bool_)):
        raise TypeError(f"{label}standardize must be True, False, 'rank' or 'auto'; got {standardize!r}.")
    return bool(standardize)


def check_normalize(normalize: Any, label: str = "", *, parameter: str = "normalize") -> str | None:
    """A normalization by its name, "auto" or None."""
    if normalize is not None:
        check_choice(f"{label}{parameter}, where it is not None,", normalize, ("auto", *_NORMALIZE))
    return normalize


def _normalizes(transforms: Iterable[Transform]) -> bool:
    """Whether one of the transforms, or a part of a chain among them, sets the scale of the kernel."""
    return any(
        _normalizes(transform.transforms)
        if isinstance(transform, Chain)
        else isinstance(transform, tuple(type(known) for known in _NORMALIZE.values()))
        for transform in transforms
    )


def read_kernel(kernel: Any) -> Kernel:
    """A kernel as it is, a function as a kernel, or a kernel written as text, such as "rbf".

    Examples
    --------
    >>> read_kernel("laplacian(gamma=0.1)")
    Laplacian(gamma=0.1)
    """
    return parse_kernel(kernel) if isinstance(kernel, str) else as_kernel(kernel)


def refuse_approximations(views: list[View]) -> None:
    """Refuse views that ask for factors where whole Gram matrices are made."""
    for view in views:
        if view.approximation is not None or view.rank is not None:
            named = "rank" if view.approximation is None else "approximation"
            raise ValueError(
                f"view {view.name!r} has {named}={getattr(view, named)!r}, but here a whole Gram matrix is "
                "made of it. Use KernelBank(kernels, gram='low_rank') or gram='auto' (MKLClassifier, "
                f"MKLRegressor, MKLRidge), or leave {named} out."
            )


def kept_views(kernels: Any) -> list[View]:
    """The views of a ``kernels=`` argument whose weight has a lower bound."""
    kernels = getattr(kernels, "kernels", kernels)
    return [] if isinstance(kernels, str) else [view for view in as_views(kernels) if view.keep]


def refuse_kept_views(kernels: Iterable[Any], learner: str) -> None:
    """Refuse views that ask for a lower bound of their weight where there is none."""
    for view in (view for each in kernels for view in kept_views(each)):
        raise ValueError(
            f"{learner} has no lower bounds of weights; got keep={view.keep!r} of view {view.name!r}. Use "
            "MKLClassifier, MKLRegressor, MKLRidge or MKLOneClass, or leave keep out."
        )


def require_varying(fitted: Collection[Any]) -> None:
    """Refuse automatic kernels of which none is left."""
    if not fitted:
        raise ValueError(
            "every automatic kernel is constant on the training rows: the samples do not differ. "
            "Check the columns of X, or give a list of kernels."
        )


def require_number_of_features(label: str, rank: int | float | None) -> None:
    """Refuse a trace error as the rank of random features, whose trace is right whatever their number."""
    if isinstance(rank, float):
        raise ValueError(
            f"{label}: random features have no trace error to choose a rank by; got rank={rank!r}. Give a "
            "number of features, such as rank=200, or use approximation='cholesky'."
        )


def has_part(kernel: Kernel, kind: type[Kernel], outside: tuple[type[Kernel], ...] = ()) -> bool:
    """Whether the kernel is of a kind, or made of kernels one of which is; not looking into `outside`."""
    if isinstance(kernel, outside):
        return False
    parts = getattr(kernel, "_parts", ())
    return isinstance(kernel, kind) or any(has_part(part, kind, outside) for part in parts)


AUTOMATIC = ("auto", "rich")


@cache  # views are immutable, and a fit asks for them several times
def automatic_views(name: str) -> tuple[View, ...]:
    """The kernels of a table that nothing is said about, by the name of the bank: "auto" or "rich".

    All read all columns, have unit variance in feature space, and take categories and gaps. Those named
    "rank" see the ranks of the columns, the others see standardized columns; widths are multiples of the
    median distance. The quadratic kernel is (x · z / d + 1)²: the mean squared norm of standardized rows is
    the number d of columns that vary.

    Examples
    --------
    >>> [view.name for view in automatic_views("auto")]
    ['linear', 'quadratic', 'gaussian-0.5', 'gaussian-1', 'rank-laplacian-0.5', 'rank-laplacian-2']
    """
    rich = name == "rich"
    plain: dict[str, Kernel] = {"linear": Linear(), "quadratic": Polynomial(2, gamma="scale")}
    plain |= {f"gaussian-{w:g}": Gaussian(scale=w) for w in ((0.5, 1.0, 2.0) if rich else (0.5, 1.0))}
    ranked: dict[str, Kernel] = {}
    if rich:
        plain |= {f"laplacian-{w:g}": Laplacian(scale=w) for w in (0.5, 1.0, 2.0)}
        ranked["rank-additive"] = AdditiveLaplacian()
    widths = (0.5, 1.0, 2.0) if rich else (0.5, 2.0)
    ranked |= {f"rank-laplacian-{w:g}": Laplacian(scale=w) for w in widths}
    views = [View(name, kernel, standardize=True, encode=True) for name, kernel in plain.items()]
    return tuple(
        views + [View(name, kernel, standardize="rank", encode=True) for name, kernel in ranked.items()]
    )


@cache
def novelty_views() -> tuple[View, ...]:
    """The kernels of "auto" and "rich" for novelty detection: linear, quadratic and five Gaussians.

    All have unit diagonal: k(x, z) does not grow as x goes away from the training rows, as a linear kernel
    does, and nothing is far away in ranks.
    """
    kernels: dict[str, Kernel] = {"linear": Linear(), "quadratic": Polynomial(2, gamma="scale")}
    kernels |= {f"gaussian-{width:g}": Gaussian(scale=width) for width in (0.25, 0.5, 1.0, 2.0, 4.0)}
    return tuple(
        View(name, kernel, None, ("unit_diagonal",), standardize=True, encode=True)
        for name, kernel in kernels.items()
    )


def as_views(kernels: Any, *, for_novelty: bool = False) -> list[View]:
    """The views that a ``kernels=`` argument describes.

    Parameters
    ----------
    kernels : "auto", "rich", Kernel, str, callable, View, tuple, or a list of kernels, texts, callables, \
            views and tuples, or a dict of table name -> any of these
        Tuples are ``(name, kernel)``, ``(name, kernel, columns)`` or ``(name, kernel, columns, transforms)``;
        texts are kernels such as ``"rbf"`` or ``"gaussian + 0.5 * linear"``. A dict names the kernels of each
        of several tables.
    for_novelty : bool, default=False
        Whether automatic kernels are those for novelty detection; a bank says so itself.

    Examples
    --------
    >>> [view.name for view in as_views([Linear(), Gaussian(), Gaussian("nearest")])]
    ['linear', 'gaussian', 'gaussian-2']
    """
    if hasattr(kernels, "kernels"):  # a bank stands for its kernels, with its defaults for them
        _refuse_bank(kernels.kernels, f"the kernels of a {type(kernels).__name__}")
        defaults = {"standardize": kernels.standardize, "normalize": kernels.normalize}
        given = as_views(kernels.kernels, for_novelty=for_novelty or getattr(kernels, "for_novelty", False))
        views = [view.with_defaults(**defaults) for view in given]
        if not getattr(kernels, "encodes", True):
            views = [replace(view, encode=False) for view in views]
        return views
    if isinstance(kernels, str):
        if kernels in AUTOMATIC:
            return list(novelty_views() if for_novelty else automatic_views(kernels))
        kernels = _kernel_in_words(kernels)
    if isinstance(kernels, Mapping):
        return _views_of_tables(kernels, for_novelty)
    if isinstance(kernels, (Kernel, View)) or callable(kernels) or _is_view_tuple(kernels):
        kernels = [kernels]
    if not isinstance(kernels, (list, tuple)):
        raise TypeError(
            "kernels must be 'auto', 'rich', 'precomputed', a kernel, a function f(X, Z), a View, or a list "
            f"of kernels, views and (name, kernel, columns) tuples; got {type(kernels).__name__}."
        )
    if len(kernels) == 0:
        raise ValueError("kernels must hold at least one kernel; got an empty list.")
    return _name_all([_as_view_or_kernel(entry) for entry in kernels])


def _refuse_bank(kernels: Any, label: str) -> None:
    """Refuse a bank within a bank or a dict: it is not clear which of them says how kernels are stored."""
    if hasattr(kernels, "kernels"):
        raise TypeError(
            f"{label} must be kernels or views; got a {type(kernels).__name__}. Use one bank around all "
            "kernels, with the settings of both: KernelBank(bank.kernels, normalize=..., rank=...)."
        )


def _kernel_in_words(text: str) -> Kernel:
    try:
        return parse_kernel(text)
    except ValueError as error:
        listed = ", ".join(repr(choice) for choice in KERNEL_CHOICES)
        raise ValueError(
            f"kernels must be one of {listed}, a kernel, or a list of kernels and views; got {text!r}. As a "
            f"kernel written as text: {error}"
        ) from None


def _views_of_tables(kernels: Mapping[Any, Any], for_novelty: bool) -> list[View]:
    """The views of a dict of table name -> kernels: one view is called as its table."""
    if not kernels:
        raise ValueError("kernels must name the kernel of at least one table; got an empty dict.")
    found: list[View] = []
    for table, given in kernels.items():
        if not isinstance(table, str) or not table:
            raise TypeError(f"kernels must have the names of tables as its keys; got {table!r}.")
        _refuse_bank(given, f"the kernels of table {table!r}")
        views = as_views(given, for_novelty=for_novelty)
        bare = len(views) == 1 and not isinstance(given, View) and not _is_view_tuple(given)
        for view in views:
            name = table if bare else view.name if isinstance(given, View) else f"{table}-{view.name}"
            found.append(replace(view, name=name, table=view.table or table))
    return _name_all(list(found))


def place_views(views: list[View], X: Any) -> list[View]:
    """The views on several tables: each with its table.

    A view that names no table is on the one that has its columns; without columns on that of its own name,
    or, where no table is called so, on each.
    """
    if not isinstance(X, MultiTable):
        lost = next((view for view in views if view.table is not None), None)
        if lost is not None:
            raise ValueError(
                f"view {lost.name!r} reads the table {lost.table!r}, but X is one table. Pass a dict of "
                "tables, or give columns instead of a table."
            )
        return views
    views = [replace(view, table=view.name) if _is_called_as_a_table(view, X) else view for view in views]
    everywhere = [view for view in views if view.table is None and _has_no_columns(view)]
    if len(everywhere) == len(views):  # the kernels of one table beside each other
        placed = [_on_table(view, table, views) for table in X.names for view in views]
        return _name_all(list(placed))
    placed = []
    for view in views:
        if view.table is not None:
            _require_table(view, X)
            placed.append(view)
        elif _has_no_columns(view):
            placed += [_on_table(view, table, views) for table in X.names]
        else:
            placed.append(replace(view, table=_table_with(view, X)))
    return _name_all(list(placed))


def automatic_names(kernels: Any, views: Iterable[View]) -> frozenset[str]:
    """Names of the views of "auto" and "rich": those that are constant on the training rows are left out.

    Parameters
    ----------
    kernels : as for `as_views`
    views : iterable of View
        Those that `kernels` describes, as `place_views` returned them.

    Examples
    --------
    >>> kernels = {"genes": "auto", "clinic": Linear()}
    >>> sorted(automatic_names(kernels, as_views(kernels)))[:2]
    ['genes-gaussian-0.5', 'genes-gaussian-1']
    """
    return frozenset(view.name for view in views if is_automatic(kernels, view.table))


def is_automatic(kernels: Any, table: str | None = None) -> bool:
    """Whether "auto" or "rich" chooses the kernels: those of one of several tables, or all of them.

    Examples
    --------
    >>> kernels = {"genes": "auto", "clinic": Linear()}
    >>> is_automatic("auto"), is_automatic(kernels), is_automatic(kernels, "genes")
    (True, False, True)
    """
    kernels = getattr(kernels, "kernels", kernels)
    parts = [kernels]
    if isinstance(kernels, Mapping):
        parts = list(kernels.values()) if table is None else [kernels.get(table)]
    return all(isinstance(part, str) and part in AUTOMATIC for part in parts)


def _is_called_as_a_table(view: View, X: MultiTable) -> bool:
    """Whether a view, that says no table and no columns, was given the name of a table.

    The names that kernels without one get, such as "linear", say nothing of tables.
    """
    if view.table is not None or view.columns is not None or view.name not in X.tables:
        return False
    kernel = view.kernel
    base = _base_name(kernel)
    number = view.name.removeprefix(f"{base}-")
    is_free = view.name == base or (number != view.name and number.isdecimal())
    automatic = [auto for name in AUTOMATIC for auto in automatic_views(name)]
    return not is_free and not any(auto.name == view.name and auto.kernel == kernel for auto in automatic)


def _has_no_columns(view: View) -> bool:
    return view.columns is None or callable(view.columns)


def _on_table(view: View, table: str, views: list[View]) -> View:
    """A view that names no table, on one of them: called as the table where there is one view of each."""
    return replace(view, name=table if len(views) == 1 else f"{table}-{view.name}", table=table)


def _require_table(view: View, X: MultiTable) -> None:
    if view.table not in X.tables:
        raise ValueError(
            f"view {view.name!r} reads the table {view.table!r}, which X does not have; its tables are "
            f"{X.names}."
        )


def _table_with(view: View, X: MultiTable) -> str:
    """The only table that has the columns of a view."""
    label, found = f"view {view.name!r}", []
    for name in X.names:
        with suppress(ValueError, TypeError):
            resolve_columns(X, view.columns, label, name)
            found.append(name)
    if len(found) != 1:
        where = f"several tables have: {found}" if found else f"none of the tables {X.names} has"
        raise ValueError(f"{label} asks for columns that {where}. Name the table: View(..., table=...).")
    return found[0]


def distinct_views(views: list[View]) -> tuple[list[View], list[int]]:
    """Views that differ in more than their name, and which of them each of the given views is.

    Examples
    --------
    >>> views, sources = distinct_views(as_views([Linear(), Gaussian(), Linear()]))
    >>> [view.name for view in views], sources
    (['linear', 'gaussian'], [0, 1, 0])
    """
    if not isinstance(views, list | tuple) or not all(isinstance(view, View) for view in views):
        raise TypeError("views must be a list of View, as as_views(kernels) returns it.")
    found: list[View] = []
    sources = []
    for view in views:
        same = [k for k, other in enumerate(found) if replace(view, name=other.name) == other]
        if not same:
            found.append(view)
        sources.append(same[0] if same else len(found) - 1)
    return found, sources


def _is_view_tuple(entry: Any) -> bool:
    return isinstance(entry, tuple) and len(entry) in (2, 3, 4) and isinstance(entry[0], str)


def _as_view_or_kernel(entry: Any) -> View | Kernel:
    if isinstance(entry, View):
        return entry
    if isinstance(entry, tuple):
        if not _is_view_tuple(entry):
            raise TypeError(f"a view given as a tuple must be (name, kernel, columns); got {entry!r}.")
        return View(*entry)
    return read_kernel(entry)


def _name_all(entries: list[View | Kernel]) -> list[View]:
    taken = [entry.name for entry in entries if isinstance(entry, View)]
    doubled = sorted({name for name in taken if taken.count(name) > 1})
    if doubled:
        raise ValueError(
            f"view names must be distinct; {doubled[0]!r} occurs {taken.count(doubled[0])} times. Give each "
            f"view a name of its own, such as {doubled[0]!r} and {doubled[0] + '-2'!r}."
        )
    used, views = set(taken), []
    for entry in entries:
        if not isinstance(entry, View):
            entry = View(_free_name(entry, used), entry)
            used.add(entry.name)
        views.append(entry)
    return views


def _base_name(kernel: Kernel) -> str:
    return kernel.name if isinstance(kernel, FunctionKernel) else type(kernel).__name__.lower()


def _free_name(kernel: Kernel, used: set[str]) -> str:
    base = _base_name(kernel)
    name, count = base, 1
    while name in used:
        count += 1
        name = f"{base}-{count}"
    return name


# --- one view for each feature -----------------------------------------------------------------


def per_feature(
    features: int | Iterable[Any],
    kernel: Kernel | None = None,
    *,
    standardize: bool | str = True,
    normalize: str | None = None,
) -> list[View]:
    """One view for each feature, all with the same kernel, so that learned weights are weights of features.

    Parameters
    ----------
    features : int, or iterable of column names or positions, all different
        How many columns there are, or which: ``per_feature(X.shape[1])``, ``per_feature(frame.columns)``.
    kernel : kernel, default=None
        Default ``Gaussian(gamma=1.0)``: the exponents of a product are then the widths of the features.
    standardize : bool or "auto", default=True
        As for :class:`View`.
    normalize : {"variance", "diagonal", "trace", "auto"} or None, default=None
        As for :class:`View`; a Gaussian keeps its unit diagonal without.

    Examples
    --------
    >>> [view.name for view in per_feature(3)]
    ['feature-0', 'feature-1', 'feature-2']
    >>> per_feature(["height"])
    [View(name='height', kernel=Gaussian(gamma=1.0), columns=['height'], standardize=True, normalize=None)]
    """
    columns = _columns(features)
    names = [c if isinstance(c, str) else f"feature-{c}" for c in columns]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise ValueError(
            f"features must differ; {repeated[0]!r} is there {repeated.count(repeated[0])} times. List every "
            "column once; columns of one name by position, per_feature(X.shape[1])."
        )
    kernel = Gaussian(gamma=1.0) if kernel is None else kernel
    options: dict[str, Any] = {"standardize": standardize, "normalize": normalize}
    return [View(name, kernel, [c], **options) for name, c in zip(names, columns, strict=True)]


def _columns(features: Any) -> list[Any]:
    remedy = "Use per_feature(X.shape[1]) or per_feature(frame.columns)."
    if isinstance(features, str) or len(getattr(features, "shape", ())) > 1:
        given = repr(features) if isinstance(features, str) else f"a table of shape {features.shape}"
        raise TypeError(f"features must be a number or a list of columns; got {given}. {remedy}")
    if not isinstance(features, Iterable):
        return list(range(check_positive_integer("features", features)))
    columns = list(features)
    if not columns:
        raise ValueError(f"features must hold one column at least; got none. {remedy}")
    for column in columns:
        if isinstance(column, float | list | np.ndarray):
            raise TypeError(f"features must be names or positions of columns; got {column!r}. {remedy}")
    return columns
