"""The table of names in files, and the steps from earlier formats."""

import pytest

import multikernel
from multikernel import MKLClassifier, kernels, load_model, views
from multikernel import rules as weights
from multikernel.io.models import archive, upgrades
from multikernel.io.models.archive import FORMAT_VERSION
from multikernel.io.models.files import checked_bytes
from multikernel.io.models.names import CALLED, OBJECTS, file_name, find
from multikernel.io.models.names_0_1 import names_of_0_1
from multikernel.io.models.upgrades import STEPS, Upgraded
from multikernel.kernels import Gaussian, Linear
from tests.io.models.models import LABELS, X, answers, as_first_format, assert_same_bits, tampered

BASES = {
    "Kernel", "Transform", "TwoClassLearner", "WeightLearner", "LowRankWarning", "GatingFeatures",
    "KernelWarning", "MissingViewsWarning",
    "GeneSetViews",  # a list in a file
    "MultiTable",  # tables of samples, which no file holds
    "NamedStack",  # data, which models do not keep
}  # fmt: skip

# Every name that a file of format version 2 may hold; names are added here and never taken away.
FORMAT_2 = """
    About AccuracyRule AdditiveGPClassifier AdditiveGPRegressor AdditivePosterior
    AdditiveLaplacian AlignmentQP AlignmentRule Baseline BayesianMKLClassifier
    BayesianMKLRegressor BayesianResult BestSingle CappedMKL Categories Center CenteredAlignment Chain
    Chi2 ClusterWeights Column ColumnBoostingClassifier ColumnBoostingRegressor ColumnKernels ColumnMap
    CombinedKernelClassifier CombinedKernelOneClass CombinedKernelPCA CombinedKernelRegressor
    CompletedBank CooperativeClassifier CooperativeRidge
    CompositionalKernelClassifier ConformalKernel ConformalModel Cosine CostPath Diffusion
    DirichletWeights DiscriminantMKL DualKernels EasyMKL ElasticNetMKL EmpiricalMap EncodedColumn
    Encoding FactorKernels FactorMap FactorView FeatureSpaceMeasure FittedKernels FittedView FourierMap
    Frame FunctionKernel FunctionalForm FungDiscriminant Gappy GatedKernels GatingColumns
    GatingKernelMap Gaussian GaussianGate GaussianProjection GeneralMKL GradientAlignment GraphKernel
    GroupMKL Hamming HyperKernels HyperkernelClassifier HyperkernelRegressor IdealDistance
    HierarchicalMKLClassifier HierarchicalMKLRegressor ProductKernels
    InfiniteMKLClassifier InfiniteMKLOneClass InfiniteMKLRegressor InstanceWeights
    Items Jaccard JointSpectrum KDDAClassifier
    KLDivergence KernelBank KernelBoosting KernelComponents KernelDiscriminantClassifier KernelFactor
    KernelKNNClassifier KernelLimit KernelSpectrum KimDiscriminant Kronecker LFDA Labels LandmarkMap MKLDR
    Laplacian Layout
    Learned Linear LinearProjection LocalAlignment LocalizedMKLClassifier LocalizedMKLOneClass
    LocalizedMKLRegressor LocalizedRidge LocalizedRidgeClassifier LogPenaltyMKL LowRankBank
    LowerBoundedMKL MKLClassifier MKLClassifierCV MKLOneClass MKLRegressor MKLRegressorCV MKLRidge
    MKLRidgeCV MKLRidgeClassifierCV MKLSurvival MKLSurvivalCV
    MSERule MarginMKL MeanFilling MeanRule Member Members MemoryEstimate Mismatch Mixed
    MixedColumn MultiTaskMKLClassifier MultiTaskMKLRegressor
    MaxMarginClustering NearestRows RegularizedMKKM SimpleMKKM
    SimilarityNetworkFusion StatisRule
    MultipleKernelKMeans MutualFilling NamedSeries Network NonstationaryClassifier
    ObjectArray ProbitMKLClassifier
    ProbitResult PSDRepair PairSplit Pairwise PairwiseRidge PearsonRule Plain Polynomial
    PolynomialProjection PolynomialRidge PosteriorSVC Power Precomputed PrecomputedBank Product
    ProductRule ProjectionKernelClassifier ProjectionKernelOneClass ProjectionKernelRegressor
    ProjectionModel Quadratic RadiusMargin RadiusMarginProduct RandomWalk RankScaling RegularizedLaplacian
    RegularizedMKLClassifier RegularizedMKLRegressor ResponseSurface RidgeBall Rows Scale Scaled Scaling
    Selection Shift Sigmoid
    SigmoidCalibration SigmoidGate SoftmaxCalibration SoftmaxGate Sparse SpectralKernelClassifier
    SpectralModel SpectralWeights Spectrum SquareRootCross Sum SumRule Tanimoto
    TransductiveMKLClassifier UnitDiagonal UnitLength UnitTrace UnitVariance View ViewMap WeightedDegree
"""


def test_every_public_class_has_a_name_in_files():
    """A new one that models may hold gets a line in `names.py`, and a case in `make_models.py`."""
    public = {
        value
        for package in (multikernel, kernels, views, weights)
        for value in (getattr(package, name) for name in package.__all__)
        if isinstance(value, type) and value.__name__ not in BASES
    }
    assert {cls.__name__ for cls in public - set(OBJECTS.values())} == set()
    assert {name for name, cls in OBJECTS.items() if cls in public and cls.__name__ != name} == set()


def test_every_class_has_one_name_and_every_name_one_class():
    assert not OBJECTS.keys() & CALLED.keys()
    classes = [*OBJECTS.values(), *CALLED.values()]
    assert len(set(classes)) == len(classes)
    for name, cls in (OBJECTS | CALLED).items():
        assert find(file_name(cls)) is cls and file_name(cls) == f"multikernel.{name}"
    assert find("multikernel.Upgraded") is None and find("os.system") is None


def test_every_name_of_0_1_leads_to_a_class_or_to_a_step():
    known = {f"multikernel.{name}" for name in (*OBJECTS, *CALLED)} | STEPS[1].keys()
    assert set(names_of_0_1().values()) <= known
    assert len(set(names_of_0_1().values())) == len(names_of_0_1())


def test_no_name_of_a_present_file_is_lost_and_no_other_is_trusted():
    """A class that is renamed or deleted keeps its name in the table, or gets a step."""
    known = {f"multikernel.{name}" for name in (*OBJECTS, *CALLED)}
    listed = {f"multikernel.{name}" for name in FORMAT_2.split()}
    assert listed - known <= STEPS.get(2, {}).keys() and known - listed == set()


def test_every_step_ends_at_a_class_of_today():
    for version, steps in STEPS.items():
        assert 1 <= version < FORMAT_VERSION
        for name in steps:
            assert type(Upgraded(version, name, {})) in OBJECTS.values()


def test_an_old_object_stays_one_object_where_it_occurs_twice(write):
    model = MKLClassifier([Linear(), Gaussian()]).fit(X, LABELS)
    loaded = load_model(write(as_first_format(checked_bytes([model, {"again": model}]))))
    assert type(loaded[0]) is MKLClassifier and loaded[1]["again"] is loaded[0]
    assert_same_bits(answers(loaded[0]), answers(model))


def test_a_class_that_moves_keeps_its_files(data, write, model, monkeypatch):
    """To another module: any will do."""
    monkeypatch.setattr(archive, "MKLClassifier", MKLClassifier, raising=False)
    monkeypatch.setattr(MKLClassifier, "__module__", archive.__name__)
    for content in (data, as_first_format(data)):
        loaded = load_model(write(content))
        assert type(loaded) is MKLClassifier
        assert_same_bits(answers(model), answers(loaded))


def test_attributes_that_were_renamed_twice(data, write, monkeypatch, model):
    """C, then `cost`, then `price`; and the way back."""

    def rename(old, new):
        def step(state):
            return "multikernel.MKLClassifier", {new if k == old else k: v for k, v in state.items()}

        return {"multikernel.MKLClassifier": step}

    def change(schema):
        schema["content"]["content"] = {
            "price" if name == "C" else name: part for name, part in schema["content"]["content"].items()
        }

    monkeypatch.setattr(upgrades, "STEPS", {1: rename("C", "cost"), 2: rename("cost", "price")})
    monkeypatch.setattr(upgrades, "FORMAT_VERSION", 3)
    loaded = load_model(write(as_first_format(data)))
    assert "C" not in vars(loaded) and loaded.price == model.C
    monkeypatch.setattr(upgrades, "STEPS", {1: rename("price", "cost"), 2: rename("cost", "C")})
    loaded = load_model(write(as_first_format(tampered(data, change))))
    assert loaded.C == model.C and not hasattr(loaded, "price")
    assert_same_bits(answers(model), answers(loaded))


def test_state_that_is_no_dict_is_refused():
    with pytest.raises(TypeError, match="dict"):
        Upgraded(1, "multikernel.MulticlassSVC", ["C"])
    with pytest.raises(ValueError, match="no class"):
        Upgraded(1, "multikernel.Nothing", {})
