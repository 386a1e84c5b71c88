"""Support vector machines with soft labels (Gönen 2010; PPSVM and MCPPSVM).

Problem: an SVM whose labels are the class probabilities at the training samples, with learned kernel weights.

``classifier``: `PosteriorSVC`, and the soft labels that are given or come from another classifier;
``solver``: the loss, and probabilities estimated from near samples.
"""

from .classifier import PosteriorSVC

__all__ = [
    "PosteriorSVC",
]
