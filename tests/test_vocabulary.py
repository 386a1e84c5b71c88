"""One word, one meaning: every estimator and every weight learner is held to one vocabulary.

`MEANINGS` lists every parameter that a public class may have. A new parameter needs an entry there, and an
entry is one sentence: where a name would need a second one, it is two parameters.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from multikernel._validation import RENAMED
from multikernel._validation.renamed import OldName
from multikernel.rules.learner import WeightLearner
from tests.methods_page import estimators, learners
from tests.test_contract import FRESH, X, fit, fitted, make

MEANINGS = {
    "C": "penalty on margin violations, or on the loss",
    "Cs": "values of C to choose from",
    "alpha": "strength of the ridge penalty",
    "alphas": "values of alpha to choose from",
    "alternate": "whether blocks of variables move in turn",
    "balance": "least size of a cluster, as a share of clusters of equal size",
    "base": "what a boosting round chooses from",
    "bound": "half the width of a search, in powers of ten",
    "box": "interval of widths, in multiples of their estimates",
    "callback": "called after each iteration",
    "candidates": "sets of kernel weights to choose from",
    "center": "the middle: of a kernel (bool), or of a ball of weights",
    "centered": "whether kernels are centered before they are compared",
    "class_balance": "whether pairs of one class count as much as pairs of two",
    "class_kernels": "the kernels of each class",
    "class_weight": "weights of classes in the loss",
    "classifier": "what classifies by the learned kernel",
    "columns": "columns that each region projects",
    "combination": "sum or product of kernels",
    "concentration": "of a Dirichlet prior",
    "cores": "points that a conformal factor is made of",
    "criterion": "which pairs of samples are held together, and which kept apart",
    "cost_reg": "strength of the penalty on the costs of a gate",
    "clusters": "the cluster of each task",
    "costs": "cost of each kernel",
    "cross": "kernel between kernels",
    "cv": "folds",
    "decay": "of the powers in a hyperkernel",
    "degree": "of a polynomial",
    "delta": "step of the design of a response surface, in powers of ten",
    "eig_tol": "share of the largest eigenvalue below which eigenvectors are dropped",
    "epsilon": "half the width of the tube without loss",
    "factor_kernel": "kernel that a conformal factor is made of",
    "fit_intercept": "whether there is an intercept",
    "gamma": "of a Gaussian exp(-gamma d^2)",
    "gating": "the gating model",
    "gating_features": "what a gate reads",
    "gate_only": "whether the view of a gate is no kernel of the machine",
    "gating_reg": "strength of the penalty on a gate",
    "gating_sparsity": "strength of the prior that closes gates",
    "groups": "groups of kernels",
    "growth": "factor of the penalty on an interaction for each variable more",
    "halving": "whether a search leaves poor candidates out after each fold",
    "hold_out": "what is new in pairs that are left out",
    "init_scale": "size of the start of a gate",
    "inner": "norm within groups",
    "kernels": "the kernels",
    "labels": "given clusters of the training samples",
    "learner": "weight learner",
    "left": "kernels of the left objects",
    "loss": "loss function",
    "lowest": "least weight of each kernel",
    "machine": "estimator on the combined kernel",
    "margin": "score by which a training sample has to be on the right side",
    "max_columns": "maximum number of columns",
    "max_kernels": "maximum number of kernels with weight",
    "max_iter": "maximum number of iterations",
    "max_samples": "number or share of the training samples that a search measures its points on",
    "max_steps": "maximum number of points of a search",
    "max_time": "maximum time of a fit in seconds",
    "method": "variant of the problem",
    "metric": "what the directions of a projection are scaled by",
    "multiclass": "how more than two classes are treated",
    "n_clusters": "number of clusters",
    "n_components": "number of dimensions",
    "n_draws": "number of draws from a posterior",
    "n_init": "number of starts",
    "n_jobs": "number of threads",
    "n_neighbors": "number of neighbors",
    "n_regions": "number of regions with a projection each",
    "n_rounds": "number of boosting rounds",
    "n_screen": "number of starts that are looked at",
    "n_steps": "number of gradient steps",
    "noise": "variance of noise",
    "norm": "p of the set of kernel weights",
    "normalizations": "values of normalize to choose from",
    "multinomial": "whether products of kernels count as often as they can be ordered",
    "normalize": "whether, or how, kernels are scaled",
    "norms": "values of norm to choose from",
    "nu": "share of samples that may lie outside",
    "on_interrupt": "what Ctrl-C does",
    "outer": "norm over groups",
    "order": "of weights along the eigenvalues",
    "patience": "iterations without progress before the end",
    "penalty": "form of the penalty on kernel weights",
    "posterior": "where soft labels come from",
    "priors": "parameters of prior distributions",
    "probability": "whether probabilities are calibrated",
    "projection_norm": "length of the columns of a projection",
    "projection_reg": "strength of the penalty on projections",
    "prune": "whether kernels with a closed gate are skipped",
    "radius": "of a ball of weights",
    "random_state": "seed",
    "refine": "whether convex problems are solved from what was chosen",
    "refit": "whether a search fits the last model",
    "relabel": "whether samples are taken for their likeliest class",
    "relative": "whether costs are relative to that of the first kernel",
    "reg": "strength of a regularization that is neither C nor alpha",
    "right": "kernels of the right objects",
    "rho": "strength of the agreement of views",
    "rule": "by which one of several is chosen: a class from projections, a candidate from scores",
    "scoring": "score of a search",
    "search_C": "whether a search of costs moves C, too",
    "sharing": "how the weights of tasks are coupled",
    "share": "share of weight beyond which a kernel costs little more",
    "shared_gate": "whether machines share a gate",
    "sigma": "width of the similarities of a network",
    "solver": "algorithm",
    "sparse": "whether a prior drives weights to zero",
    "split": "which columns hold the left objects",
    "spread": "standard deviation between a sample's parts and their sum",
    "standardize": "whether columns are standardized",
    "step": "first step of a gradient method",
    "task": "what y is",
    "tau": "strength of the disagreement of two kernels",
    "targets": "which targets have kernel weights in common",
    "threshold": "accuracy below which a kernel gets no weight",
    "task_column": "the column of X that holds the task of each sample",
    "tol": "tolerance on dual_gap_",
    "total": "sum of all weights",
    "ties": "how events at the same time are counted",
    "trace": "trace of the learned kernel matrix",
    "vectors": "orthogonal vectors over all points, or a function that makes them",
    "constraints": "linear constraints on the kernel weights",
    "verbose": "whether progress is printed",
    "weight_set": "set that kernel weights are chosen from",
    "weighted": "whether classes count by their sizes",
    "weights": "whether kernel weights are learned or uniform",
}
# Parameters that may be given by position, where it is not `kernels` alone.
LEADING = {
    "CombinedKernelClassifier": ("kernels", "learner", "machine"),  # what it is made of
    "CombinedKernelOneClass": ("kernels", "learner", "machine"),
    "CombinedKernelPCA": ("kernels", "learner"),
    "CombinedKernelRegressor": ("kernels", "learner", "machine"),
    "PairwiseRidge": ("left", "right"),  # two sets of kernels
}
TOL = {
    "AdditiveGPClassifier": "its gap is in nats a sample, no share of the objective",
    "AdditiveGPRegressor": "its gap is in nats a sample, no share of the objective",
    "BayesianMKLClassifier": "its gap is in nats a sample, no share of the objective",
    "BayesianMKLRegressor": "its gap is in nats a sample, no share of the objective",
    "ProbitMKLClassifier": "its gap is in nats a sample, no share of the objective",
    "DirichletWeights": "its gap is Newton's decrement in nats",
}
# What max_iter counts where it is not updates of weights in a convex problem, whose default is 300.
MAX_ITER = {
    "BayesianMKLClassifier": 1000,  # updates of a variational posterior, cheap and many
    "BayesianMKLRegressor": 1000,
    "ClusterWeights": 1000,  # projected gradient steps, not convex
    "ColumnBoostingClassifier": 1000,  # columns
    "ColumnBoostingRegressor": 1000,
    "DirichletWeights": 100,  # Newton steps to a mode
    "InstanceWeights": 1000,  # projected gradient steps, not convex
    "MKLDR": 100,  # updates of weights, each with an eigenproblem, not concave
    "LocalizedMKLClassifier": 100,  # steps of a descent that is stopped early
    "LocalizedMKLOneClass": 100,
    "LocalizedMKLRegressor": 100,
    "LocalizedRidge": 100,
    "LocalizedRidgeClassifier": 100,
    "NonstationaryClassifier": 30,  # convex problems from one start, not convex
    "ProbitMKLClassifier": 1000,  # updates of a variational posterior
    "PairwiseRidge": 1000,  # products with the kernels
    "ProjectionKernelClassifier": 100,
    "ProjectionKernelOneClass": 100,
    "ProjectionKernelRegressor": 100,
}
ITERATES = {"max_iter", "n_rounds", "n_steps"}
# Others with a limit of their time: loops without a number of iterations, and kernels that are tried in turn.
ALSO_LIMITED = {"DiscriminantMKL", "KimDiscriminant", "SpectralKernelClassifier"}
UNWEIGHTED = {
    "ProbitMKLClassifier": "the likelihood of the model has no weights",
    "AdditiveGPClassifier": "the likelihood of the model has no weights",
    "AdditiveGPRegressor": "the likelihood of the model has no weights",
    "BayesianMKLClassifier": "the likelihood of the model has no weights",
    "BayesianMKLRegressor": "the likelihood of the model has no weights",
    "CombinedKernelPCA": "a decomposition, no loss",
    "ConformalKernel": "a ratio of scatters, no loss",
    "KDDAClassifier": "a ratio of scatters, no loss",
    "KernelDiscriminantClassifier": "a ratio of scatters, no loss",
    "KernelKNNClassifier": "a vote, no loss",
    "LFDA": "a ratio of scatters, no loss",
    "MKLDR": "a ratio of scatters, no loss",
    "MaxMarginClustering": "the balance counts samples",
    "RegularizedMKKM": "an eigenproblem, no loss",
    "SimpleMKKM": "an eigenproblem, no loss",
    "SpectralKernelClassifier": "a ratio of scatters, no loss",
}
# Weights that depend on the sample: those of these classes, and of CombinedKernel* with such a learner.
LOCAL = {
    "LocalizedMKLClassifier",
    "LocalizedMKLOneClass",
    "LocalizedMKLRegressor",
    "LocalizedRidge",
    "LocalizedRidgeClassifier",
    "NonstationaryClassifier",
    "ProjectionKernelClassifier",
    "ProjectionKernelOneClass",
    "ProjectionKernelRegressor",
}
LOCAL_RULES = {"ClusterWeights", "InstanceWeights"}
BRITISH = ("malise", "dise", "rise", "isation", "centre", "labelled", "neighbour", "colour", "behaviour")

ESTIMATORS, RULES = estimators(), learners()
BOTH = ESTIMATORS + RULES


def parameters(cls):
    return inspect.signature(cls).parameters


def classes_with(name, among=BOTH):
    found = [cls for cls in among if name in parameters(cls)]
    return pytest.mark.parametrize("cls", found, ids=lambda cls: cls.__name__)


every = pytest.mark.parametrize("cls", BOTH, ids=lambda cls: cls.__name__)
every_estimator = pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)


@every
def test_parameters_are_in_the_vocabulary(cls):
    unknown = [name for name in parameters(cls) if name not in MEANINGS]
    assert not unknown, f"{cls.__name__}: give {unknown} a meaning in MEANINGS, or a name that has it"


def test_the_vocabulary_holds_nothing_else():
    used = {name for cls in BOTH for name in parameters(cls)}
    assert not MEANINGS.keys() - used
    assert not [name for name in MEANINGS if name.endswith(BRITISH)]


@every_estimator
def test_kernels_come_first_and_the_rest_by_name(cls):
    leading = LEADING.get(cls.__name__, ("kernels",))
    kinds = parameters(cls)
    assert tuple(name for name, p in kinds.items() if p.kind is not p.KEYWORD_ONLY) == leading


@classes_with("tol")
def test_tol(cls):
    assert (parameters(cls)["tol"].default == 1e-3) == (cls.__name__ not in TOL)


@classes_with("max_iter")
def test_max_iter(cls):
    assert parameters(cls)["max_iter"].default == MAX_ITER.get(cls.__name__, 300)


@every
def test_whatever_iterates_has_limits(cls):
    names = parameters(cls)
    iterates = bool(ITERATES & names.keys()) or cls.__name__ in ALSO_LIMITED
    assert ("max_time" in names) == iterates
    assert ("on_interrupt" in names) == ("callback" in names)
    if iterates:
        assert names["max_time"].default is None
        assert "max_time" in cls.__doc__
    if "callback" in names:
        assert names["on_interrupt"].default == "raise"
        assert "on_interrupt" in cls.__doc__


@classes_with("random_state")
def test_random_state_is_a_fixed_stream_unless_given(cls):
    assert parameters(cls)["random_state"].default is None


@every_estimator
def test_sample_weights(cls):
    assert ("sample_weight" in inspect.signature(cls.fit).parameters) == (cls.__name__ not in UNWEIGHTED)


@every
def test_old_names_are_refused_with_the_new_ones(cls):
    tables = [RENAMED[base.__name__] for base in cls.__mro__ if base.__name__ in RENAMED]
    for old, new in {old: new for table in reversed(tables) for old, new in table.items()}.items():
        if old in parameters(cls):
            continue
        if new.isidentifier() and new not in parameters(cls):
            continue  # of a base class, for others of its subclasses
        told = repr(new) if new.isidentifier() else "has no parameter"
        with pytest.raises(TypeError, match=told):
            cls(**{old: 1.0})


@every_estimator
def test_old_methods_and_attributes_name_the_new_ones(cls):
    for base in cls.__mro__:
        for old, entry in vars(base).items():
            if isinstance(entry, OldName):
                assert not hasattr(cls, old)
                with pytest.raises(AttributeError, match=repr(entry.new)):
                    getattr(make(cls), old)


@every_estimator
def test_fitted_attributes_are_of_one_type(cls):
    model = fitted(cls)
    expected = {
        "intercept_": np.ndarray, "dual_coef_": np.ndarray, "support_": np.ndarray, "n_iter_": int,
        "objective_": float, "dual_gap_": float, "status_": str, "history_": list, "view_names_": list,
        "machine_names_": list, "kernel_weights_": np.ndarray, "offset_": float, "reg_": float,
        "gamma_": float,
    }  # fmt: skip
    for name, kind in expected.items():
        if hasattr(model, name):
            assert isinstance(getattr(model, name), kind), name
    if hasattr(model, "intercept_"):
        assert model.intercept_.ndim == 1


@every_estimator
def test_weights_that_depend_on_the_sample(cls):
    model = fitted(cls)
    assert hasattr(model, "sample_kernel_weights") == (cls.__name__ in LOCAL)
    if cls.__name__ in LOCAL:
        weights = model.sample_kernel_weights(FRESH)
        assert weights.shape == (len(FRESH), model.kernel_weights_.size)
        means = model.sample_kernel_weights(X).mean(axis=0)
        np.testing.assert_allclose(means, model.kernel_weights_, atol=1e-9)


@pytest.mark.parametrize("cls", RULES, ids=lambda cls: cls.__name__)
def test_rules_with_weights_that_depend_on_the_sample(cls):
    assert hasattr(cls, "sample_kernel_weights") == (cls.__name__ in LOCAL_RULES)
    assert issubclass(cls, WeightLearner)


@every_estimator
def test_sample_weights_of_one_change_nothing(cls):
    if cls.__name__ in UNWEIGHTED:  # with the reason there
        assert "sample_weight" not in inspect.signature(cls.fit).parameters
        return
    plain = fitted(cls)
    weighted = fit(make(cls), sample_weight=np.ones(len(X)))
    np.testing.assert_array_equal(weighted.predict(FRESH), plain.predict(FRESH))
