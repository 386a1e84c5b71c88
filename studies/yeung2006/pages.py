"""What the pages of the tables say beside the figures."""

from __future__ import annotations

SPLITS = 10

TITLES = {
    "monks3": "Monks-3",
    "ionosphere": "ionosphere",
    "wdbc": "WDBC (breast cancer, diagnostic)",
    "wine": "wine",
    "boston": "Boston houses, three classes of price",
}

_PROTOCOL = (
    "Of all points, 20% or 40% drawn at random are labelled; the others are in the kernel matrix from the "
    "beginning, and their labels are never seen before the accuracy on them is counted. The number of "
    f"random splits, {SPLITS}, is ours: that of the publication is not at hand.",
    "Columns are scaled to mean 0 and variance 1 over all points (our choice: the publication does not say).",
    "Gaussian kernel exp(−‖x − z‖² / σ²) with σ² out of d̄² (the mean squared distance of two points), "
    "1e-4, 1e-3, 1e-2, 1e-1, 1, 5, 10, 1e2 and 1e3, the published list. Every classifier chooses its own "
    "σ², the first of equals, by leave-one-out over the labelled points. Weights of eigenvectors are "
    "learned again without the label of the point left out; the conformal kernel is left as all labels "
    "made it. With which classifier the publication chose is not known.",
    "Separability: K = Σ μ_r² v_r v_r' over the eigenvectors v_r of the Gaussian kernel matrix, uncentred, "
    "whose eigenvalues exceed eig_tol of the largest; μ in closed form, α = 10⁴. How many eigenvectors the "
    "publication kept is not known. In one row eig_tol is 0.01, in another it is chosen from 0.3, 0.1, "
    "0.03 and 0.01 together with σ² by leave-one-out.",
    "Conformal kernel (Xiong, Swamy & Ahmad 2005): cores are a third of the labelled points, 200 steps of "
    "the published gradient method (a step that would lower the criterion is halved). KDDA (Lu et al. 2003) "
    "of the Gaussian kernel, with the nearest neighbour.",
)
_ALIGNMENT = (
    "Alignment, for two classes: μ_r² ∝ (v_r'y)² over the labelled points, the closed form, with eig_tol = "
    "0.01."
)
_OWN: dict[str, tuple[str, ...]] = {
    "monks3": (
        "All 432 points of the domain with their noise-free labels, the six attributes as integers (our "
        "choice). Scaled like the other sets, they give the published figures of the Gaussian kernel with "
        "the nearest neighbours; unscaled integers do not, nor do one-hot columns (1-NN, 20% labelled: "
        "about 86% and 80%, scaled one-hot columns 87%).",
        _ALIGNMENT,
    ),
    "ionosphere": (_ALIGNMENT,),
    "wdbc": (_ALIGNMENT,),
    "wine": (),
    "boston": (
        "The classes of the publication are not known: the prices are cut into three classes at their "
        "terciles (our choice).",
    ),
}
PROTOCOL = {dataset: (*_PROTOCOL, *own) for dataset, own in _OWN.items()}

_NOTES = (
    "The numbering of the tables, one for each data set, is ours.",
    "Remarks have the σ², and the eig_tol, that each classifier chose most often, in the order of columns.",
    "eig_tol = 0.01 was chosen after seeing accuracies on Monks-3, ionosphere, WDBC and wine; the rows "
    "with eig_tol by leave-one-out have not seen the labels that they are judged by. For sets that had no "
    "part in it see table fresh.",
    "Published figures are at hand for the Gaussian kernel and separability only, and none for the Boston "
    "houses.",
    f"The s.e. of a difference takes the published mean to be that of {SPLITS} splits that vary as ours do; "
    "that of a gain is of the difference on the same splits.",
)
_FINDINGS: dict[str, tuple[str, ...]] = {
    "monks3": (
        "The points are a full grid and three attributes have three levels each: eigenvalues of the "
        "Gaussian kernel matrix repeat (of the 22 that exceed 0.01 of the largest at σ² = d̄², 9 differ). "
        "Their eigenvectors are not determined: they are what the eigenvalue routine happens to return. So "
        "the vectors of one eigenvalue have one weight here, from the means of their scatters. In the row "
        "*columns told apart* the columns are multiplied by 1, 1.0001, …, 1.0005. This changes no entry of "
        "the Gaussian kernel by more than 0.0004, but every vector then has its own weight, and the nearest "
        "neighbours on the learned kernel are right more often by 3 to 8 points, about as often as the "
        "published ones. Which eigenvectors the publication had is not known.",
        "The gain of separability is found with the nearest neighbours, and not with the SVM. Alignment, "
        "the rival, is far ahead of both with the nearest neighbours.",
        "SVM, 40% labelled: ours is 2 to 5 points above the published one. The published one of the "
        "Gaussian falls from 92.6 to 91.8 as the labels double; we have no explanation. It is not the 122 "
        "noisy training points of the set: with them in, the nearest neighbours would not agree.",
    ),
    "ionosphere": (
        "The gain of separability with the nearest neighbours is about the published one; with the SVM "
        "there is none.",
        "All figures are above the published ones. Scaling is no explanation: with columns as they are, "
        "scaled to unit variance, or to the range from 0 to 1 the Gaussian kernel at σ² = d̄² is equally "
        "good (1-NN, 20% labelled: 84.6%, 84.2% and 84.9% on ten other splits).",
        "SVM with the Gaussian kernel: how the width is chosen is a likely part of it. Its own "
        "leave-one-out gives 91.6% and 93.3% (C = 100, 20% and 40% labelled), σ² = d̄² on the same splits "
        "87.2% and 90.5%, the width that 1-NN chose 79.7% and 83.0%; published are 83.1% and 89.2%.",
        "At σ² = 1 the Gaussian vanishes between distant points, which then are all equally near; "
        "leave-one-out chooses it on some splits for the nearest neighbours. Widths so narrow are in the "
        "published list.",
    ),
    "wdbc": (
        "The published gain of separability is not found: with separability we are within 1.3 points of "
        "the published figures, but with the plain kernel 1.1 to 4.1 points above them in every column.",
        "The scaling may be why. With columns as they are the Gaussian kernel (σ² = d̄², ten other splits) "
        "has 90.8% / 91.8% / 92.5% / 93.6% with 20% labelled and 90.8% / 92.0% / 93.0% / 94.3% with 40%: "
        "the published figures lie between these and ours, or near these.",
    ),
    "wine": (
        "The published gains of 4.1 points (1-NN, 20% labelled) and of 2.6 points (SVM, C = 1000, 40% "
        "labelled) are not found; no gain of ours is above 0.9 points. The plain kernel agrees within 1.3 "
        "points.",
        "With columns as they are 1-NN would have 68.5% (20% labelled): the publication must have scaled "
        "them.",
    ),
    "boston": (),
}
NOTES = {dataset: (*_NOTES, *findings) for dataset, findings in _FINDINGS.items()}
