"""The names of format version 1, which were modules and classes of multikernel 0.1.

Never changed: modules have moved since, and the files have not.
"""

from __future__ import annotations

from functools import cache

# By module of multikernel 0.1, the classes that a file could name.
_CLASSES = {
    "combine.gates": "GaussianGate SigmoidGate SoftmaxGate",
    "estimators._calibration": "SigmoidCalibration",
    "estimators.bayesian_classifier": "BayesianMKLClassifier",
    "estimators.bayesian_regressor": "BayesianMKLRegressor",
    "estimators.column_boosting_classifier": "ColumnBoostingClassifier",
    "estimators.column_boosting_regressor": "ColumnBoostingRegressor",
    "estimators.combined_classifier": "CombinedKernelClassifier",
    "estimators.combined_one_class": "CombinedKernelOneClass",
    "estimators.combined_pca": "CombinedKernelPCA",
    "estimators.combined_regressor": "CombinedKernelRegressor",
    "estimators.compositional": "CompositionalKernelClassifier",
    "estimators.conformal": "ConformalKernel",
    "estimators.cost_path": "CostPath",
    "estimators.kdda": "KDDAClassifier",
    "estimators.kernel_discriminant": "KernelDiscriminantClassifier",
    "estimators.kernel_kmeans": "MultipleKernelKMeans",
    "estimators.kernel_neighbors": "KernelKNNClassifier",
    "estimators.localized_classifier": "LocalizedMKLClassifier",
    "estimators.localized_one_class": "LocalizedMKLOneClass",
    "estimators.localized_regressor": "LocalizedMKLRegressor",
    "estimators.mkl_classifier": "MKLClassifier",
    "estimators.mkl_one_class": "MKLOneClass",
    "estimators.mkl_regressor": "MKLRegressor",
    "estimators.mkl_ridge": "MKLRidge",
    "estimators.multiclass_svc": "MulticlassSVC",
    "estimators.nonstationary": "NonstationaryClassifier",
    "estimators.pairwise_ridge": "PairwiseRidge",
    "estimators.posterior_svc": "PosteriorSVC",
    "estimators.projection_classifier": "ProjectionKernelClassifier",
    "estimators.projection_one_class": "ProjectionKernelOneClass",
    "estimators.projection_regressor": "ProjectionKernelRegressor",
    "estimators.regularized_classifier": "RegularizedMKLClassifier",
    "estimators.spectral": "SpectralKernelClassifier",
    "estimators.transductive": "TransductiveMKLClassifier",
    "kernels._rows": "Rows",
    "kernels.base": "Power Product Scaled Sum",
    "kernels.categories": "Hamming",
    "kernels.distance": "Chi2 Gaussian Laplacian",
    "kernels.dot": "Cosine Linear Polynomial Sigmoid",
    "kernels.empirical_map": "EmpiricalMap",
    "kernels.given": "FunctionKernel Precomputed",
    "kernels.graphs": "GraphKernel",
    "kernels.mixed": "Mixed MixedColumn",
    "kernels.networks.kernels": "Diffusion RandomWalk RegularizedLaplacian",
    "kernels.networks.network": "Network",
    "kernels.pairs": "Kronecker Pairwise",
    "kernels.sets": "Jaccard Tanimoto",
    "kernels.strings.alignment": "LocalAlignment",
    "kernels.strings.spectrum": "Gappy Mismatch Spectrum",
    "kernels.strings.weighted_degree": "WeightedDegree",
    "kernels.transforms": "Center Chain PSDRepair UnitDiagonal UnitTrace",
    "persistence.stand_ins": (
        "Categories Column Frame Items Labels Layout Member Members NamedSeries ObjectArray Plain Sparse"
    ),
    "selection.pair_split": "PairSplit",
    "selection.quadratic": "Quadratic",
    "selection.response_surface": "ResponseSurface",
    "solvers.bayesian.learn": "BayesianResult",
    "solvers.compositional": "SquareRootCross",
    "solvers.conformal_kernel": "ConformalModel",
    "solvers.kernel_pca": "KernelComponents",
    "solvers.localized.projection_kernels": "GaussianProjection LinearProjection",
    "solvers.localized.projections": "ProjectionModel",
    "solvers.spectral_kernel": "SpectralModel SpectralWeights Spectrum",
    "views.bank": "FittedView KernelBank",
    "views.columns": "Selection",
    "views.gating_features": "GatingColumns GatingKernelMap",
    "views.low_rank.bank": "LowRankBank",
    "views.low_rank.fourier": "FourierMap",
    "views.low_rank.maps": "ColumnMap LandmarkMap",
    "views.low_rank.transforms": "Scale Shift UnitLength",
    "views.low_rank.view": "FactorView",
    "views.memory": "MemoryEstimate",
    "views.missing.bank": "CompletedBank",
    "views.missing.filling": "MeanFilling",
    "views.missing.mutual": "MutualFilling ViewMap",
    "views.precomputed": "PrecomputedBank",
    "views.scaling": "Scaling",
    "views.view": "View",
    "weights.bayesian.dirichlet": "DirichletWeights",
    "weights.boosting.kernel_boosting": "KernelBoosting",
    "weights.discriminant.fung": "FungDiscriminant",
    "weights.discriminant.kim": "KimDiscriminant",
    "weights.discriminant.total_scatter": "DiscriminantMKL",
    "weights.fixed.best_single": "BestSingle",
    "weights.fixed.mean": "MeanRule",
    "weights.fixed.product": "ProductRule",
    "weights.fixed.sum": "SumRule",
    "weights.heuristic.accuracy": "AccuracyRule",
    "weights.heuristic.alignment": "AlignmentRule",
    "weights.heuristic.mse": "MSERule",
    "weights.heuristic.pearson": "PearsonRule",
    "weights.learner": "About Learned",
    "weights.margin.capped_mkl": "CappedMKL",
    "weights.margin.easy_mkl": "EasyMKL",
    "weights.margin.elastic_net": "ElasticNetMKL",
    "weights.margin.group_mkl": "GroupMKL",
    "weights.margin.log_penalty": "LogPenaltyMKL",
    "weights.margin.lower_bounded": "LowerBoundedMKL",
    "weights.margin.margin_mkl": "MarginMKL",
    "weights.margin.radius_margin": "RadiusMargin",
    "weights.nonlinear.cluster_weights": "ClusterWeights",
    "weights.nonlinear.functional_form": "FunctionalForm",
    "weights.nonlinear.general": "GeneralMKL",
    "weights.nonlinear.instance_weights": "InstanceWeights",
    "weights.ridge.ball": "RidgeBall",
    "weights.ridge.polynomial": "PolynomialRidge",
    "weights.similarity.alignment_qp": "AlignmentQP",
    "weights.similarity.centered_alignment": "CenteredAlignment",
    "weights.similarity.feature_space_measure": "FeatureSpaceMeasure",
    "weights.similarity.gradient_alignment": "GradientAlignment",
    "weights.similarity.ideal_distance": "IdealDistance",
    "weights.similarity.kl_divergence": "KLDivergence",
}
# A name of today that is not that of the class.
_OTHERWISE = {"solvers.spectral_kernel.Spectrum": "KernelSpectrum"}


@cache
def names_of_0_1() -> dict[str, str]:
    """From each name in files of format version 1 to the name of format version 2.

    Examples
    --------
    >>> names_of_0_1()["multikernel.estimators.mkl_classifier.MKLClassifier"]
    'multikernel.MKLClassifier'
    """
    places = [(module, name) for module, names in _CLASSES.items() for name in names.split()]
    return {
        f"multikernel.{module}.{name}": f"multikernel.{_OTHERWISE.get(f'{module}.{name}', name)}"
        for module, name in places
    }
