"""Several tasks on the same views: cohorts, tissues or outputs, each with samples of its own.

Jawanpuria & Nath (2011) and Rakotomamonjy et al. (2011) for mixed norms over tasks and kernels; Kloft et al.
(2011) for steps in closed form. Problem: Σ_t J_t(ν_t) over the weights ν_t of all tasks, with a mixed norm
that draws them to common ones.

``estimators``: MultiTaskMKLClassifier and MultiTaskMKLRegressor, whose table has a column with the task of
each sample; ``solver/coupled``: the weights, with a certificate.
"""

from .estimators import MultiTaskMKLClassifier, MultiTaskMKLRegressor

__all__ = ["MultiTaskMKLClassifier", "MultiTaskMKLRegressor"]
