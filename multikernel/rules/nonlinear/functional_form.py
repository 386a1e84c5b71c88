"""The mean of two kernels and a function of their difference (de Diego and others)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from ..._validation import check_choice, check_number, smallest_eigenvalue
from ...core.stack.sums import kernel_scales
from ..learner import About, Learned, WeightLearner
from ..targets import TASKS, Targets

FORMS = ("product", "difference", "absolute")


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
    with the most confidence, the largest y f(x | y). For two classes and a machine whose score is linear in
    the kernel, f(x | +1) + f(x | −1) is twice the score by ½(K₁ + K₂) alone, and its sign is that choice: so
    the kernel between new and training samples is ½(K₁ + K₂) here, for any number of classes.

    The forms are our reading of the review by Gönen & Alpaydın (2011); there the product is not divided by n,
    which makes τ mean the same for few samples and many.

    Parameters
    ----------
    form : {"product", "difference", "absolute"}
        "product" needs no classes.
    tau : float >= 0

    Attributes
    ----------
    kernel_weights_ : array (2,), of both kernels in their mean: ½ divided by the mean of the diagonal
    shift_ : float, what is added to the diagonal of the training kernel

    References
    ----------
    I. M. de Diego, J. M. Moguerza & A. Muñoz (2004). Combining kernel information for support vector
    classification. Multiple Classifier Systems.

    Examples
    --------
    >>> K, L = np.array([[1.0, 0.8], [0.8, 1.0]]), np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> FunctionalForm("absolute", tau=0.5).fit_combine([K, L], ["a", "b"])
    array([[1. , 0.2],
           [0.2, 1. ]])
    """

    learns_from = TASKS
    is_linear = False
    about = About(
        family="nonlinear",
        problem="K = ½(K₁ + K₂) + τ f(K₁ − K₂), f a product, a difference or its size, by classes",
        solver="none; an eigenvalue to keep K semidefinite",
        cost="n³",
        use="Two kernels that disagree in part, and classes to say who is right.",
        reference="de Diego, Moguerza & Muñoz 2004",
    )

    form: str = "product"
    tau: float = 0.5

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        check_choice("form", self.form, FORMS)
        check_number("tau", self.tau, at_least=0.0)
        if len(Ks) != 2:
            raise ValueError(
                f"FunctionalForm combines two kernels; got {len(Ks)}. Choose two, or add kernels up first."
            )
        if self.form != "product" and targets.task != "classes":
            raise ValueError(
                f"FunctionalForm(form={self.form!r}) learns from classes; got {targets.task}. "
                "Use form='product'."
            )
        self.kernel_weights_ = 0.5 / kernel_scales(Ks, self.view_names_)
        left, right = (w * K.astype(float) for w, K in zip(self.kernel_weights_, Ks, strict=True))
        self._difference = 2.0 * (left - right)
        self._labels = targets.ideal if self.form != "product" else None
        self.shift_ = 0.0
        if self._labels is not None:
            self.shift_ = max(0.0, -smallest_eigenvalue(self.combine_training(Ks)))
        return Learned(self.kernel_weights_)

    def combine_training(self, Ks: Array) -> Array:
        """The kernel of the training samples, of which the classes are known."""
        K = self.combine_rows(enumerate(Ks))
        if self._labels is not None:
            part = np.abs(self._difference) if self.form == "absolute" else self._difference
            K += self.tau * (self._labels @ self._labels.T) * part
            K[np.diag_indices(len(K))] += self.shift_
        return K

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The kernel between samples of unknown class and the training samples."""
        parts = [np.multiply(K, self.kernel_weights_[m], dtype=np.float64) for m, K in kernels]
        K = parts[0] + parts[1]
        if self.form == "product":
            K += (2.0 * self.tau / len(self._difference)) * (parts[0] - parts[1]) @ self._difference
        return K
