"""Kernels that are no weighted sum with one weight for each: products, functional and local combinations."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import check_choice, check_number, check_positive_integer, check_seed, smallest_eigenvalue
from ..clustering.solver.kmeans import KernelKMeans
from ..core.stack.sums import GatedStack, kernel_scales, mean_diagonals, weighted_sum
from ..core.svm.losses import Loss, SquaredError, SquaredHinge
from .learner import COMBINATIONS, About, Learned, SumOrProductLearner, WeightLearner
from .solver.descent import ProjectedResult
from .solver.general import LinearPrice, QuadraticPrice, minimise_general
from .solver.local_weights import Groups, indicator, learn_local_weights
from .solver.products import PowerProduct, WeightedSum, divisible_product
from .targets import TASKS, Targets, require_different_values

PENALTIES = {"l1": LinearPrice, "l2": QuadraticPrice}
FORMS = ("product", "difference", "absolute")
_MOST_TAU = 1e100  # times products of kernels of unit scale, it is still a number


@dataclass(eq=False, repr=False)
class GeneralMKL(SumOrProductLearner):
    """Weights or exponents η at which an SVM, with a penalty on η, is optimal.

        min_{η ≥ 0}  J(K_η) + reg r(η),      r = Σ_m η_m   or   ½ Σ_m η_m²

        sum        K_η = Σ_m η_m K_m
        product    K_η = ∘_m (K_m / s_m)^{η_m}   (entry by entry), s_m the mean of K_m's diagonal

    J(K) is the optimal value of the SVM, ½‖w‖² + C Σ ξ_i; of several classes or outputs the sum of
    their values, with one η for all. With one Gaussian for each feature
    (:func:`multikernel.views.per_feature`) the product is exp(−Σ_j η_j (x_j − z_j)²): η_j is the width of
    feature j, and 0 where it is left out.

    The sum is a convex problem. The product is not: where it ends depends on its start, which is
    η_m = 1 / (P u_m), u_m the median of −log(K_m / s_m) over pairs of samples, so that the kernel of two
    samples at the median distance in every feature is 1/e (η = 0, the constant kernel, is no start).

    Parameters
    ----------
    C : float > 0, default=1.0
    combination : {"sum", "product"}, default="sum"
        "product" needs kernels with entries above 0 only all whose powers are positive semidefinite, such as
        Gaussian and Laplacian kernels.
    penalty : {"l1", "l2"}, default="l1"
        r: "l1" drops kernels, "l2" rarely does.
    reg : float > 0, default=1.0
        Strength of the penalty on η. Kernels (features) should have one scale.
    epsilon : float >= 0, default=0.1
        For values: errors below it are free.
    tol : float, default=1e-3
        On ``dual_gap_``.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Η.
    objective_ : float, J(K_η) + reg r(η)
    dual_gap_ : float
        "sum": no η is better than objective_ (1 − dual_gap_). "product": how far η is from stationary, in
        the same units (``multikernel.rules.solver.general``).

    Examples
    --------
    Features by the widths of one Gaussian each: the classes differ in the first two of four.

    >>> import numpy as np
    >>> from multikernel import CombinedKernelClassifier
    >>> from multikernel.views import per_feature
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> y = X[:, 0] ** 2 + X[:, 1] ** 2 > 1.5
    >>> learner = GeneralMKL(combination="product")
    >>> model = CombinedKernelClassifier(per_feature(4), learner).fit(X, y)
    >>> model.kernel_weights_.round(1)
    array([1.2, 1.1, 0. , 0. ])

    References
    ----------
    M. Varma & B. R. Babu (2009). More generality in efficient multiple kernel learning. ICML.
    """

    about = About(
        family="nonlinear",
        problem="min_{η ≥ 0} J(K_η) + reg Σ η_m (or ½ reg Σ η_m²), K_η = Σ η_m K_m or ∘ K_m^{η_m}",
        solver="spectral projected gradient; duality gap (sum, convex) or stationarity (product)",
        cost="tens of SVM fits with P n² each; the product keeps logarithms, P n²/2 numbers",
        use="The product selects features and learns their widths: one Gaussian for each feature.",
        reference="Varma & Babu 2009",
    )

    C: float = 1.0
    combination: str = "sum"
    penalty: str = "l1"
    reg: float = 1.0
    epsilon: float = 0.1
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        check_choice("combination", self.combination, COMBINATIONS)
        check_choice("penalty", self.penalty, tuple(PENALTIES))
        price = PENALTIES[self.penalty](check_number("reg", self.reg, above=0.0))
        C, options = check_number("C", self.C, above=0.0), self._options()
        losses = targets.losses(C, epsilon=check_number("epsilon", self.epsilon, at_least=0.0))
        self._scales = mean_diagonals(Ks)
        combination, units = self._combination(Ks)
        found = minimise_general(combination, losses, price, units, options)
        if not found.point.any():
            raise ValueError(
                f"GeneralMKL: at reg={self.reg!r} all kernel weights are zero. Lower reg, or raise C."
            )
        return Learned.of(found, found.point)

    def _combination(self, Ks: Array) -> tuple[WeightedSum | PowerProduct, Array]:
        """How the kernels become one, and a usual size of each η."""
        if self.combination == "sum":
            return WeightedSum(Ks), 1.0 / self._scales
        product = divisible_product(Ks, self.view_names_, self._scales)
        return product, 1.0 / product.typical()


@dataclass(eq=False, repr=False)
class FunctionalForm(WeightLearner):
    """K = ½(K₁ + K₂) + τ f(D), D = K₁ − K₂, for two kernels, each scaled to a mean diagonal of 1.

    product      f = DD / n                (matrix product; new samples: d(x)'D / n)
    difference   f = L ∘ D,                L_ij = 1 if i and j are of one class, else −1/(k − 1)
    absolute     f = L ∘ |D|               (entry by entry)

    n is the number of samples, k that of classes; L = yy' for two. Where the kernels agree, f is nothing.
    "difference" and "absolute" move what the kernels do not agree on to the side of the classes; they may
    make K indefinite, whose diagonal then is raised by as much as makes it semidefinite (``shift_``).

    The class of a new sample is not known. It was proposed to try each, and to keep the one that is decided
    with the most confidence, the largest y f(x | y). For two classes and a classifier whose score is linear
    in the kernel, f(x | +1) + f(x | −1) is twice the score by ½(K₁ + K₂) alone, and its sign is that choice:
    so the kernel between new and training samples is ½(K₁ + K₂) here, for any number of classes.

    The forms are our reading of the review by Gönen & Alpaydın (2011); there the product is not divided by n,
    which makes τ mean the same for few samples and many.

    Parameters
    ----------
    method : {"product", "difference", "absolute"}, default="product"
        "product" needs no classes.
    tau : float >= 0, less than 1e100, default=0.5

    Attributes
    ----------
    kernel_weights_ : array of shape (2,)
        Of both kernels in their mean: ½ divided by the mean of the diagonal.
    shift_ : float, what is added to the diagonal of the training kernel

    Examples
    --------
    >>> K, L = np.array([[1.0, 0.8], [0.8, 1.0]]), np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> FunctionalForm("absolute", tau=0.5).fit_combine([K, L], ["a", "b"])
    array([[1. , 0.2],
           [0.2, 1. ]])

    References
    ----------
    I. M. de Diego, J. M. Moguerza & A. Muñoz (2004). Combining kernel information for support vector
    classification. Multiple Classifier Systems.
    """

    learns_from = TASKS
    is_linear = False
    about = About(
        family="nonlinear",
        problem="K = ½(K₁ + K₂) + τ f(K₁ − K₂), f a product, a difference or its size, by classes",
        solver="none; an eigenvalue to keep K semidefinite",
        cost="n³",
        use="Two kernels that disagree in part, with labels that decide between them.",
        reference="de Diego, Moguerza & Muñoz 2004",
    )

    method: str = "product"
    tau: float = 0.5

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        check_choice("method", self.method, FORMS)
        check_number("tau", self.tau, at_least=0.0, below=_MOST_TAU)
        if len(Ks) != 2:
            raise ValueError(
                f"FunctionalForm combines two kernels; got {len(Ks)}. Choose two, or add kernels up first."
            )
        if self.method != "product" and targets.task != "classification":
            raise ValueError(
                f"FunctionalForm(method={self.method!r}) is for classification; got {targets.task}. "
                "Use method='product'."
            )
        self.kernel_weights_ = 0.5 / kernel_scales(Ks, self.view_names_)
        left, right = (w * K.astype(float) for w, K in zip(self.kernel_weights_, Ks, strict=True))
        self._difference = 2.0 * (left - right)
        self._labels = targets.ideal if self.method != "product" else None
        self.shift_ = 0.0
        if self._labels is not None:
            self.shift_ = max(0.0, -smallest_eigenvalue(self.combine_training(Ks)))
        return Learned(self.kernel_weights_)

    def combine_training(self, Ks: Array) -> Array:
        """The kernel of the training samples, of which the classes are known."""
        K = self.combine_rows(enumerate(Ks))
        if self._labels is not None:
            part = np.abs(self._difference) if self.method == "absolute" else self._difference
            K += self.tau * (self._labels @ self._labels.T) * part
            K[np.diag_indices(len(K))] += self.shift_
        return K

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The kernel between samples of unknown class and the training samples."""
        parts = [np.multiply(K, self.kernel_weights_[m], dtype=np.float64) for m, K in kernels]
        K = parts[0] + parts[1]
        if self.method == "product":
            K += (2.0 * self.tau / len(self._difference)) * (parts[0] - parts[1]) @ self._difference
        return K


class LocalLearner(WeightLearner):
    """K(x, z) = Σ_m η_m(x) η_m(z) K_m(x, z) / s_m; a learner says what η is at new samples."""

    certificate = "stationarity"
    is_linear = False
    C: float
    random_state: Any

    def _prepare(self, Ks: Array) -> Array:
        """Note the scales s_m; the mean kernel (1/P) Σ K_m / s_m of the training samples."""
        self._scales = kernel_scales(Ks, self.view_names_)
        return weighted_sum(Ks, 1.0 / (len(Ks) * self._scales))

    def _cluster(self, mean: Array, n_clusters: Any) -> Array:
        """The cluster of each training sample, by kernel k-means."""
        k = check_positive_integer("n_clusters", n_clusters)
        if k > len(mean):
            raise ValueError(f"n_clusters must be at most the number of samples, {len(mean)}; got {k}.")
        seed = 0 if self.random_state is None else check_seed("random_state", self.random_state)
        return KernelKMeans(mean[None], np.ones(1), k, learn=False).solve(seed=seed).labels

    def _descend(self, Ks: Array, targets: Targets, groups: Groups) -> ProjectedResult:
        """Learn the weights of the groups, and note those of the training samples."""
        C = check_number("C", self.C, above=0.0)
        found = learn_local_weights(Ks, _smooth_losses(targets, C), groups, self._options())
        self._training_weights = found.point[groups.of]
        return found

    def _weights_at(self, similarities: Array) -> Array:
        """η (n_samples, P) from the mean kernel between new and training samples."""
        raise NotImplementedError

    def sample_kernel_weights(self, kernels: Any) -> Array:
        """The weight η of each kernel at new samples.

        Parameters
        ----------
        kernels : array of shape (n_samples, n_train, n_kernels), or list or dict of n_kernels arrays
            As for ``combine``.

        Returns
        -------
        weights : array of shape (n_samples, n_kernels)
        """
        return self.weights_of_rows(enumerate(np.moveaxis(self._new_stack(kernels), 2, 0)))

    def weights_of_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The same from pairs of a number and its kernel (n_samples, n_train), one at a time."""
        return self._weights_at(self._mean_rows(kernels))

    def _mean_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The mean kernel between new and training samples."""
        P, mean = self.kernel_weights_.size, np.zeros(0)
        for m, K in kernels:
            mean = mean if mean.size else np.zeros(K.shape)
            mean += np.multiply(K, 1.0 / (P * self._scales[m]), dtype=np.float64)
        return mean

    # ------------------------------------------------------------------ combination
    @property
    def active_kernels(self) -> Array:
        """All: the mean kernel says where a sample is."""
        return np.arange(self.kernel_weights_.size)

    def combine_training(self, Ks: Array) -> Array:
        """The kernel of the training samples, each with its own weights."""
        stack = GatedStack(np.asarray(Ks), np.arange(len(Ks)))
        stack.set_gates(self._training_weights / np.sqrt(self._scales))
        return stack.whole()

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The kernel of new samples, whose weights are found first: all the kernels are held at once."""
        held = list(kernels)
        mean = self._mean_rows(held)
        new = self._weights_at(mean) / self._scales
        total = np.zeros_like(mean)
        for m, K in held:
            total += new[:, m, None] * (K * self._training_weights[:, m])
        return total


@dataclass(eq=False, repr=False)
class ClusterWeights(LocalLearner):
    """K(x, z) = Σ_m η_m^{c(x)} η_m^{c(z)} K_m(x, z) / s_m: weights of the cluster c(x) that a sample is in.

        min  J(K)   over η^c ≥ 0, Σ_m η_m^c = 1 for each cluster c

    J is the optimal value of an SVM with squared slacks, ½‖w‖² + (C/2) Σ ξ_i² (of
    ridge regression for values, of unit variance); of several classes or outputs the sum. s_m is the mean of
    K_m's diagonal. K is positive semidefinite whatever the weights.

    Clusters are found by k-means in the feature space of the mean kernel (1/P) Σ K_m / s_m, or given. A new
    sample is of the cluster with the nearest centre there. The problem is not convex, also for one cluster,
    where weights are the squares of η: the descent from equal weights ends where it is stationary. The
    squared slacks are our choice: with them J has a gradient everywhere.

    Parameters
    ----------
    n_clusters : int, default=2
    C : float > 0, default=1.0
    labels : array of shape (n_samples,), default=None
        The cluster of each training sample, instead of k-means.
    random_state : int or None, default=None
        Of the starts of k-means; None is the seed 0.
    tol : float, on ``dual_gap_``, default=1e-3
    max_iter : int, default=1000
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        The mean of η over the samples.
    cluster_weights_ : array of shape (n_clusters, n_kernels)
        Η^c.
    clusters_ : array of shape (n_samples,)
        The cluster of each training sample.
    dual_gap_ : float, how far the weights are from stationary: the fall that the gradient promises in the
        best direction, as a part of the objective

    Examples
    --------
    Where the first feature is positive, the second tells the classes, else the third.

    >>> X = np.random.default_rng(0).normal(size=(90, 3))
    >>> y = np.where(X[:, 0] > 0.0, X[:, 1], X[:, 2]) > 0
    >>> learner = ClusterWeights(labels=X[:, 0] > 0.0).fit([np.outer(x, x) for x in X.T], y)
    >>> learner.cluster_weights_.round(1)
    array([[0., 0., 1.],
           [0., 1., 0.]])

    References
    ----------
    J. Yang, Y. Li, Y. Tian, L. Duan & W. Gao (2009). Group-sensitive multiple kernel learning for object
    categorization. ICCV.
    """

    about = About(
        family="nonlinear",
        problem="min J(Σ η_m^{c(x)} η_m^{c(z)} K_m), η^c in a simplex for each cluster c of the samples",
        solver="kernel k-means, then projected gradients; stationarity",
        cost="tens of SVM fits with P n² each",
        use="Regions in which different kernels matter, without a gating model.",
        reference="Yang et al. 2009",
    )

    n_clusters: int = 2
    C: float = 1.0
    labels: Any = None
    random_state: Any = None
    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        mean = self._prepare(Ks)
        if self.labels is None:
            self.clusters_ = self._cluster(mean, self.n_clusters)
        else:
            self.clusters_ = _given_clusters(self.labels, targets.n)
        members = indicator(self.clusters_)
        self._members = members / members.sum(axis=0)
        self._norms = np.einsum("ic,ij,jc->c", self._members, mean, self._members, optimize=True)
        groups = Groups(self.clusters_, np.zeros(targets.n, int))
        found = self._descend(Ks, targets, groups)
        self.cluster_weights_ = found.point
        return Learned.of(found, self._training_weights.mean(axis=0))

    def _weights_at(self, similarities: Array) -> Array:
        nearest = (self._norms - 2.0 * similarities @ self._members).argmin(axis=1)
        return np.asarray(self.cluster_weights_[nearest])


def _given_clusters(labels: Any, n: int) -> Array:
    given = np.asarray(labels)
    if given.shape != (n,):
        raise ValueError(
            f"labels must hold a cluster for each of the {n} training samples; got shape {given.shape}."
        )
    return np.unique(given, return_inverse=True)[1]


@dataclass(eq=False, repr=False)
class InstanceWeights(LocalLearner):
    """K(x_i, x_j) = Σ_m η_im η_jm K_m(x_i, x_j) / s_m: weights of its own for each training sample i.

        min  J(K) + ½ reg Σ_i ‖η_i − η̄_i‖²   over η_i ≥ 0, Σ_m η_im = 1 for each sample i

    η̄_i is the mean of the weights over the samples of i's cluster (of all, for one cluster). J and s_m are
    as for :class:`ClusterWeights`, which is the limit of a large reg. Without a penalty, n P weights fit
    the training samples at will.

    Weights of training samples say nothing of new ones, and there is no natural rule: here, a new sample has
    the mean weights of its nearest training samples in the feature space of the mean kernel. The penalty and
    this rule are our reading. The problem is not convex: the descent from equal weights ends where it is
    stationary.

    Parameters
    ----------
    C : float > 0, default=1.0
    reg : float >= 0, default=10.0
    n_neighbors : int, how many training samples give a new one its weights, default=5
    n_clusters : int, default=1
    random_state : int or None, default=None
        Of the starts of k-means; None is the seed 0.
    tol : float, on ``dual_gap_``, default=1e-3
    max_iter : int, default=1000
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        The mean of η over the samples.
    instance_weights_ : array of shape (n_samples, n_kernels)
        Η.
    clusters_ : array of shape (n_samples,)
        The cluster of each training sample.
    dual_gap_ : float, as for :class:`ClusterWeights`

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = X[:, 0] > 0
    >>> learner = InstanceWeights(reg=100.0).fit([np.outer(x, x) for x in X.T], y)
    >>> learner.instance_weights_.shape, learner.kernel_weights_.round(1).tolist()
    ((40, 2), [1.0, 0.0])

    References
    ----------
    J. Yang, Y. Li, Y. Tian, L.-Y. Duan & W. Gao (2010). Per-sample multiple kernel approach for visual
    concept learning. EURASIP Journal on Image and Video Processing.
    """

    about = About(
        family="nonlinear",
        problem="min J(Σ η_im η_jm K_m) + ½ reg Σ ‖η_i − η̄‖², η_i in a simplex for each sample i",
        solver="projected gradients; stationarity",
        cost="hundreds of SVM fits with P n² each; n P parameters",
        use="To explore which kernels each training sample needs; for predictions, prefer a gating model.",
        reference="Yang et al. 2010",
    )

    C: float = 1.0
    reg: float = 10.0
    n_neighbors: int = 5
    n_clusters: int = 1
    random_state: Any = None
    tol: float = 1e-3
    max_iter: int = 1000
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        reg = check_number("reg", self.reg, at_least=0.0)
        check_positive_integer("n_neighbors", self.n_neighbors)
        mean = self._prepare(Ks)
        self._norms = np.diagonal(mean).copy()
        self.clusters_ = self._cluster(mean, self.n_clusters)
        found = self._descend(Ks, targets, Groups(np.arange(targets.n), self.clusters_, reg))
        self.instance_weights_ = found.point
        return Learned.of(found, found.point.mean(axis=0))

    def _weights_at(self, similarities: Array) -> Array:
        order = np.argsort(self._norms - 2.0 * similarities, axis=1, kind="stable")
        nearest = order[:, : min(self.n_neighbors, order.shape[1])]
        return np.asarray(self.instance_weights_[nearest].mean(axis=1))


def _smooth_losses(targets: Targets, C: float) -> list[Loss]:
    """Losses whose duals are unique, so that J has a gradient: squared, of classes or of scaled values."""
    if targets.task == "classification":
        return [SquaredHinge(signs, C) for signs in targets.signs]
    require_different_values(targets)
    size = max(float(targets.values.std(axis=0).max()), np.finfo(float).tiny)
    return [SquaredError(output / size, 1.0 / C) for output in targets.values.T]
