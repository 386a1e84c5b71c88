"""One function for each view, drawn to agree (Ding, Li, Narasimhan & Tibshirani 2022: cooperative learning).

Problem: the loss of the sum of the views' functions, plus a penalty on the differences between their values
at the training samples. One parameter leads from the additive model (early fusion) to views that are fitted
apart (late fusion) and beyond.

``estimators``: CooperativeRidge and CooperativeClassifier; ``solver/agreement``: the problem as one with a
single kernel, solved by the SVM solvers of the core, with a duality gap.
"""

from .estimators import CooperativeClassifier, CooperativeRidge

__all__ = ["CooperativeClassifier", "CooperativeRidge"]
