"""Kernel weights for each of many targets.

``each``: targets as they are given, and the convex problem of each target (``MKLRidge(targets="each")``);
``chosen``: weights and alpha of each target, chosen by leave-one-out or folds
(``MKLRidgeCV(targets="each")``); ``classifier``: labels and classes, by regressions on signs; ``results``:
from weights and dual variables of many targets to what is stored; ``by_view``: what each view adds to R²;
``solver/``: one eigendecomposition for each set of weights, which serves all alphas and targets.
"""
