"""The methods of the survey, where each is in the package, and what it was measured to be good for.

Gönen (2010), table 2.1, and the methods that its chapter discusses beside the table. The figures come from
``benchmarks/survey/accuracy.jsonl`` and ``docs/benchmarks/survey_times.md``.
"""

import json
import re
from pathlib import Path

import numpy as np

from multikernel.registry import list_methods

ROOT = Path(__file__).parent.parent
ACCURACY = ROOT / "benchmarks" / "survey" / "accuracy.jsonl"
TIMES = ROOT / "docs" / "benchmarks" / "survey_times.md"
REFERENCE = "tuned"  # MKLClassifierCV

HEAD = """## Map of the survey

Every method of table 2.1 of Gönen's thesis (2010), those that its chapter 2 discusses beside the table, and
two of the survey of 2011, with the class that implements it. Methods without a class are in the next section.

- accuracy: the mean difference of test accuracy from `MKLClassifierCV`, in points, on the
  [five sets](benchmarks/survey_accuracy.md) or those of them that the method takes;
- time: [one fit](benchmarks/survey_times.md) with 500 samples and 10 kernels, in fits of `MKLClassifier`.

Both are for classification with the defaults. A dash: not a classifier, or not measured.

"""
COLUMNS = ("branch", "papers", "in the package", "accuracy", "time")
NONE = ""  # no class: see the table of those that are left out

# Branch, papers, and names of public classes or functions of the package.
ENTRIES = (
    ("fixed rules", "Pavlidis et al. 2001", "SumRule, ProductRule"),
    ("fixed rules", "Ben-Hur & Noble 2005", "Pairwise, Kronecker"),
    ("linear combination", "Lanckriet et al. 2002, 2004", "TransductiveMKLClassifier"),
    ("linear combination", "Conforti & Guido 2010", NONE),
    ("nonnegative combination", "Lanckriet et al. 2004", "MKLClassifier"),
    ("nonnegative combination", "Fung et al. 2004", "FungDiscriminant"),
    ("nonnegative combination", "Tsuda et al. 2004", NONE),
    ("nonnegative combination", "Qiu & Lane 2005", "MKLRegressor"),
    ("nonnegative combination", "Lin et al. 2009", "MKLDR"),
    ("nonnegative combination", "Zhao et al. 2009", "MaxMarginClustering"),
    ("nonnegative combination", "Kloft et al. 2010", "MKLClassifier"),
    ("convex combination", "Bousquet & Herrmann 2003", NONE),
    ("convex combination", "Bach et al. 2004; Sonnenburg et al. 2006", "MKLClassifier"),
    ("convex combination", "Argyriou et al. 2005, 2006; Micchelli & Pontil 2005", "InfiniteMKLClassifier"),
    ("convex combination", "Kim et al. 2006", "KimDiscriminant"),
    ("convex combination", "De Bie et al. 2007", "LowerBoundedMKL"),
    ("convex combination", "Rakotomamonjy et al. 2007, 2008; Xu et al. 2009", "MarginMKL"),
    ("convex combination", "Ye et al. 2007", "KernelDiscriminantClassifier"),
    ("convex combination", "Ye et al. 2007, as a rule", "DiscriminantMKL"),
    ("convex combination", "Zien & Ong 2007", 'MKLClassifier(multiclass="joint")'),
    ("convex combination", "Longworth & Gales 2008, 2009", "ElasticNetMKL"),
    ("binary combination", "Xu et al. 2009 (feature selection)", "CappedMKL"),
    ("nonlinear functions", "Ong et al. 2003, 2005; Ong & Smola 2003", "HyperkernelClassifier"),
    ("nonlinear functions", "Lewis et al. 2006", "NonstationaryClassifier"),
    ("nonlinear functions", "Varma & Ray 2007; Varma & Babu 2009", "GeneralMKL"),
    ("nonlinear functions", "Cortes et al. 2010", "PolynomialRidge"),
    ("alignment, linear", "Lanckriet et al. 2004 (alignment)", "TransductiveMKLClassifier"),
    ("alignment, linear", "Igel et al. 2007", "GradientAlignment"),
    ("alignment, nonnegative", "Kandola et al. 2002", "AlignmentQP"),
    ("alignment, convex", "Qiu & Lane 2009", "AlignmentRule"),
    ("other similarity", "He et al. 2008", "IdealDistance"),
    ("other similarity", "Nguyen & Ho 2008", "FeatureSpaceMeasure"),
    ("other similarity", "Ying et al. 2009", "KLDivergence"),
    ("boosting", "Bennett et al. 2002; Bi et al. 2004", "ColumnBoostingClassifier"),
    ("boosting", "Crammer et al. 2003", "KernelBoosting"),
    ("Bayesian", "Girolami & Rogers 2005", "DirichletWeights"),
    ("Bayesian", "Girolami & Zhong 2007", "AdditiveGPClassifier"),
    ("Bayesian", "Damoulas & Girolami 2008, 2009", "ProbitMKLClassifier"),
    ("in the text", "Joachims et al. 2001", "support_overlap"),
    ("in the text", "Chapelle et al. 2002", "RadiusMarginProduct"),
    ("in the text", "Tan & Wang 2004", NONE),
    ("in the text", "Moguerza et al. 2004", NONE),
    ("in the text", "Tsang & Kwok 2006", NONE),
    ("in the text", "Cortes et al. 2009 (L2 norm)", "RidgeBall"),
    ("in the text", "Gönen & Alpaydın 2008", "LocalizedMKLClassifier"),
    ("in the text", "Szafranski et al. 2008", "GroupMKL"),
    ("in the text", "Gehler & Nowozin 2008", "InfiniteMKLClassifier"),
    ("in the text", "Tanabe et al. 2008", "AccuracyRule"),
    ("in the text", "Bach 2009", "HierarchicalMKLClassifier"),
    ("in the text", "Hu et al. 2009", NONE),
    ("in the text", "McFee & Lanckriet 2009", NONE),
    ("in the text", "Christoudias et al. 2009", NONE),
    ("in the text", "Subrahmanya & Shin 2010", "LogPenaltyMKL"),
    ("in the text", "Lee et al. 2007", "CompositionalKernelClassifier"),
    ("in the text", "de Diego et al. 2004", "FunctionalForm"),
    ("survey of 2011", "Yang et al. 2009, 2010", "ClusterWeights, InstanceWeights"),
)


def class_names(entry):
    """The names of the package in an entry."""
    return re.findall(r"(\w+)(?:\([^)]*\))?(?:, |$)", entry[2])


def rows():
    """The table: branch, papers, classes, accuracy beside MKLClassifierCV, time in fits of MKLClassifier."""
    accuracy, times = differences(), fits()
    found = []
    for branch, papers, classes in ENTRIES:
        methods = [method_of(name, classes) for name in class_names((branch, papers, classes))]
        told = [[table.get(method) for method in methods] for table in (accuracy, times)]
        cells = [cell(row, form) for row, form in zip(told, FORMS, strict=True)]
        written = ", ".join(f"`{name}`" for name in classes.split(", ")) if classes else "left out"
        found.append([branch, papers, written, *cells])
    return found


FORMS = ("{:+.1f}".format, "{:.1f}".format)


def cell(figures, form):
    """The figures of the classes of a row; a dash if there are none."""
    if all(figure is None for figure in figures):
        return "–"
    return ", ".join("–" if figure is None else form(figure) for figure in figures)


def method_of(name, spelled):
    """The method of the registry that a class belongs to; None for what is no method."""
    for method in list_methods():
        if (spelled.startswith(f"{name}(") and spelled in method.spellings) or (
            "(" not in spelled and name in method.class_names
        ):
            return method.name
    return None


def differences():
    """By method, the mean difference of accuracy from MKLClassifierCV over its sets, in points."""
    if not ACCURACY.exists():
        return {}
    scores = {}
    for line in ACCURACY.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if "accuracy" in record:
            scores.setdefault(record["method"], {})[record["set"], record["seed"]] = record["accuracy"]
    reference = scores[REFERENCE]
    return {
        method: 100 * float(np.mean([score - reference[key] for key, score in own.items()]))
        for method, own in scores.items()
    }


def fits():
    """By method, the time of a fit for classification, in fits of MKLClassifier."""
    if not TIMES.exists():
        return {}
    pattern = r"^\| `(\w+)` \| classification \| [\d.]+ \| \**([\d.]+)\** \|"
    return {
        name: float(ratio) for name, ratio in re.findall(pattern, TIMES.read_text(encoding="utf-8"), re.M)
    }
