"""The project around the code: its README runs, its guide shows the real source, its layers hold."""

import ast
import dataclasses
import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from packaging.requirements import Requirement

from docs.check_code import run_page
from multikernel.registry import list_methods
from tests.methods_page import all_learners, escaped, estimators, learners, methods_page
from tests.shared_data import needs_shared_data, shared_data_folder

matplotlib.use("Agg")

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

import method_pages  # noqa: E402

LIVE = re.compile(r"^<!-- source: (\S+) -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


# --- README ------------------------------------------------------------------------------------------------


def test_the_code_of_the_readme_runs_and_prints_what_it_says(tmp_path):
    """Blocks run in order in one namespace; a text block is what the block before it prints."""
    done = run_page(ROOT / "README.md", tmp_path, commands=False)  # their files are not at hand
    assert done.n_run >= 2
    assert done.n_compared >= 1


def test_the_commands_that_the_texts_name_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    heads = re.findall(r"^([\w -]+):", makefile + (ROOT / "benchmarks/bench.mk").read_text(), re.MULTILINE)
    targets = {target for head in heads for target in head.split()}
    for page in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^)make ([\w-]+)", text, re.MULTILINE))
        assert {"run", "test", "test-all"} <= named
        assert named <= targets


# --- CONTRIBUTING: live source -----------------------------------------------------------------------------


def source_of(address):
    """The text of `file.py::Name`, `file.py::Class.method` or a whole `file.py`, decorators included."""
    path, _, dotted = address.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    if not dotted:
        return text
    node = ast.parse(text)
    for name in dotted.split("."):
        node = next(child for child in node.body if getattr(child, "name", None) == name)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    lines = text.splitlines()[first - 1 : node.end_lineno]
    return "\n".join(line.removeprefix(" " * node.col_offset) for line in lines) + "\n"


LIVE_PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "how_to").glob("*.md"))]


@pytest.mark.parametrize("page", LIVE_PAGES, ids=lambda page: page.stem)
def test_a_page_shows_live_source(page, request):
    text = page.read_text(encoding="utf-8")
    current = LIVE.sub(
        lambda block: f"<!-- source: {block[1]} -->\n```python\n{source_of(block[1])}```", text
    )
    if request.config.getoption("--refresh-docs"):
        page.write_text(current, encoding="utf-8")
        text = current
    for address, shown in LIVE.findall(text):
        assert shown == source_of(address), f"{address} has changed: run `make docs`"
    assert text.count("\n<!-- source:") == len(LIVE.findall(text))


def test_live_source_shows_a_kernel_a_rule_and_a_solver():
    texts = [page.read_text(encoding="utf-8") for page in LIVE_PAGES]
    rooms = {address.split("/")[1] for text in texts for address, _ in LIVE.findall(text)}
    assert {"kernels", "rules", "core"} <= rooms


METHOD_PAGES = sorted((ROOT / "docs" / "methods").glob("*.md"))


@pytest.mark.parametrize("page", METHOD_PAGES, ids=lambda page: page.stem)
def test_the_facts_of_a_method_page_are_live_source(page, request):
    """Readers of the repository see the facts of a method without a build."""
    text = page.read_text(encoding="utf-8")
    current = method_pages.with_facts(text)
    if request.config.getoption("--refresh-docs"):
        page.write_text(current, encoding="utf-8")
        text = current
    assert method_pages.END not in text or text == current, (
        f"{page.name}: a method has changed, run `make docs`"
    )


def test_the_page_of_methods_is_live_source(request):
    page = ROOT / "docs" / "methods.md"
    if request.config.getoption("--refresh-docs"):
        page.write_text(methods_page(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == methods_page(), "a method has changed: run `make docs`"


def test_every_method_has_its_row_on_the_page_of_methods():
    rows = [line for line in methods_page().splitlines() if line.startswith("| `")]
    methods = [*learners(), *estimators()]
    names = [m.__name__ for m in methods] + [s for m in list_methods() if m.preset for s in m.spellings]
    assert sorted(re.match(r"\| `([^`]+)` ", row)[1] for row in rows) == sorted(names)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {8}
    for method in methods:
        for field in dataclasses.fields(method.about):
            assert getattr(method.about, field.name).strip(), f"{method.__name__}.about.{field.name} is empty"


def test_every_weight_learner_is_exported_and_says_what_it_is_about():
    found = all_learners()
    assert {"SumRule", "CenteredAlignment"} <= {learner.__name__ for learner in found}
    missing = [learner.__name__ for learner in found if learner not in learners()]
    assert not missing, f"multikernel.rules does not export {missing}"
    silent = [learner.__name__ for learner in found if not hasattr(learner, "about")]
    assert not silent, f"{silent} must say what they are about: see About"


def test_marks_of_tables_are_escaped():
    assert escaped("min |w|\n at  *p* < 1") == r"min \|w\| at \*p\* \< 1"


# --- pins and examples -------------------------------------------------------------------------------------


def test_every_dependency_is_pinned_within_its_range():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ranges = project["dependencies"] + project["optional-dependencies"]["test"]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.lower().split("==") for line in lines if not line.startswith("#"))
    for requirement in map(Requirement, ranges):
        assert requirement.name in pins
        assert requirement.specifier.contains(pins[requirement.name]), requirement


def load_example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run_example(tmp_path, capsys):
    """A function that runs an example with a picture: the module, and what it printed."""

    def run(name, *arguments):
        example = load_example(name)
        picture = tmp_path / "run" / "picture.png"
        example.main([*arguments, "--picture", str(picture)])
        assert picture.read_bytes().startswith(b"\x89PNG")
        return example, capsys.readouterr().out

    return run


def test_the_first_job_runs_and_reports(tmp_path, capsys):
    example = load_example("which_property_of_a_cell_tells_cancer")
    report = tmp_path / "run" / "report.html"
    example.main(["--train", "120", "--report", str(report)])
    printed, page = capsys.readouterr().out, report.read_text(encoding="utf-8")
    for view in example.VIEWS:
        share, low, high = map(float, re.search(rf"{view} +(\d+)% +\[ *(\d+)%, +(\d+)%\]", printed).groups())
        assert 0 <= low <= high <= 100 and 0 <= share <= 100
        assert view in page
    assert float(re.search(r"independent cohort, accuracy is (0\.\d+)", printed)[1]) > 0.9
    for rival in ("plain sum", "best single view", "tuned RBF SVM", "without size"):
        assert rival in printed and rival in page
    assert len(re.findall(r"^  tumor \d+, ", printed, re.MULTILINE)) == 3
    for path in re.findall(r"docs/\w+\.md|examples/", printed):
        assert (ROOT / path).exists()


@pytest.mark.thorough
def test_the_example_of_digits_runs_and_reports(tmp_path, capsys):
    example = load_example("which_view_of_a_digit_matters")
    report = tmp_path / "run" / "report.html"
    example.main(["--train", "100", "--report", str(report)])
    printed, page = capsys.readouterr().out, report.read_text(encoding="utf-8")
    for view in ("pixels", "row_profile", "column_profile", "fourier", "orientations"):
        assert view in printed
        assert view in page
    assert "numba" in printed.splitlines()[0]
    assert re.search(r"relative duality gap +\d\.\de-\d\d", printed)
    assert "plain sum" in printed
    assert "plain sum" in page


def test_the_example_of_tables_runs(run_example):
    _, printed = run_example("which_table_of_a_patient_matters", "--patients", "80")
    lines = dict(re.findall(r"^(mrna|methylation|clinic) +(0\.\d+)$", printed, re.MULTILINE))
    assert set(lines) == {"mrna", "methylation", "clinic"} and "patients in some table" in printed


def test_the_predicted_risks_of_an_example_order_and_predict(run_example):
    _, printed = run_example("are_the_predicted_risks_right")
    order, score, reference = map(float, re.findall(r"(?:patients:|score|Meier) (\d\.\d+)", printed))
    assert order > 0.6 and score < reference


@pytest.mark.thorough
def test_the_example_of_many_targets_finds_their_views(run_example):
    _, printed = run_example("which_view_speaks_for_which_target", "--targets", "60")
    each, shared = (
        [float(number) for number in re.search(rf"{name} +(\S+) +(\d+)%", printed).groups()]
        for name in ("each", "shared")
    )
    assert each[0] > shared[0] and each[1] > 70


@pytest.mark.thorough
def test_the_example_of_columns_finds_those_that_did_it(run_example):
    _, printed = run_example("which_columns_did_it")
    rows = re.findall(r"^ *(?:genes|proteins|clinic) +(\w+) +\S+ +\S+ +(\S+) +\S+$", printed, re.MULTILINE)
    above = {name for name, low in rows if float(low) > 0.0}
    assert len(rows) == 9 and above == {"GENE1", "GENE2", "ferritin", "stage"}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:the model memorizes its training samples:multikernel.views.KernelWarning")
def test_the_example_of_negative_weights_runs(capsys):
    example = load_example("do_negative_weights_help")
    example.main(["--points", "60", "--splits", "2"])
    printed = capsys.readouterr().out
    uncentred, centred = printed.split("Centred columns")
    for part in (uncentred, centred):
        rows = [line for line in part.splitlines() if line.startswith(tuple(example.CONTENDERS))]
        assert len(rows) == len(example.CONTENDERS)
        assert all(float(row.split()[-3]) <= 1e-8 for row in rows)
    assert float(uncentred.split("weights of any sign")[1].split()[2]) < 0.0


@pytest.mark.thorough
def test_the_example_of_the_parzen_window_raises_the_alignment(capsys):
    example = load_example("does_alignment_help_a_parzen_window")
    example.main(["--points", "80", "--splits", "2"])
    rows = [line for line in capsys.readouterr().out.splitlines() if "0." in line]
    plain, spectral, several = (
        [float(row.split(label)[1].split()[0]) for row in rows if label in row] for label in example.KERNELS
    )
    assert len(plain) == len(several) == 2 and min(spectral) > max(plain)


@pytest.mark.thorough
def test_the_example_of_sequences_compares_them_with_the_table_and_with_both(run_example):
    _, printed = run_example("do_sequences_say_more_than_the_table", "--draws", "2", "--align")
    table, sequences, both = (
        float(re.search(rf"{name} +(\d+\.\d) ± ", printed)[1]) for name in ("table", "sequences", "both")
    )
    assert sequences > table + 5.0 and both > table + 5.0
    weights = [float(line.split()[-1]) for line in printed.splitlines() if line.startswith("  ")]
    assert len(weights) == 5 and abs(sum(weights) - 1.0) < 0.03


@pytest.mark.thorough
def test_the_example_of_learned_regularisation_runs(run_example):
    _, printed = run_example("can_the_regularisation_be_learned", "--splits", "2")
    assert "with a near-identity kernel: so near the identity as to regularize" in printed
    assert "wide kernels only: reg matters." in printed
    wide = printed.split("wide kernels only")[2]
    learned, overfitted = (float(wide.split(name)[1].split()[3]) for name in ("learned", "1e-08"))
    assert learned > overfitted
    assert wide.split("learned")[1].split()[0] == "1" and wide.split("cross-validated")[1].split()[0] == "16"


@pytest.mark.thorough
def test_the_example_of_spectral_kernels_says_when_they_help_and_when_not(run_example):
    example, printed = run_example("when_does_a_spectral_kernel_help", "--draws", "2")
    figures = re.findall(
        r"(\d+\.\d) ± \d+\.\d %  (helps|hurts|makes no clear difference): ([+-]\d+\.\d)", printed
    )
    assert len(figures) == len(example.PROBLEMS) * len(example.CLASSIFIERS) * len(example.LEARNED)
    gain = float(figures[0][2])  # of separability for the nearest neighbour, on the rings
    assert gain > 3.0
    rings, moons = map(float, re.search(r"is (\S+) for two rings and (\S+) for two moons", printed).groups())
    assert rings > 2.0 * moons


@pytest.mark.thorough
def test_the_example_of_weights_that_depend_on_the_point_runs(run_example):
    _, printed = run_example("where_does_which_kernel_speak", "--splits", "2")
    plane, wines = printed.split("Wine, scaled columns")
    stationary, nonstationary = map(float, re.findall(r"(\d+\.\d) % right", plane))
    assert stationary < 87.0 and nonstationary == 100.0
    accuracies = list(map(float, re.findall(r"(\d+\.\d) ± \d+\.\d % right", wines)))
    assert len(accuracies) == 3 and min(accuracies) > 90.0
    shares = [list(map(float, row.split()[2:])) for row in wines.splitlines() if row.startswith("cultivar")]
    assert [round(sum(row), 1) for row in shares] == [1.0, 1.0, 1.0]


@pytest.mark.thorough
def test_the_example_of_kernels_with_a_gate_says_when_the_gate_helps(run_example):
    example, printed = run_example("which_kernel_where", "--draws", "2", "--points", "1000")
    accuracies = list(map(float, re.findall(r"(\d+\.\d\d) ± \d\.\d\d +\d+ +\d\.\d\d", printed)))
    assert len(accuracies) == len(example.PREPARATIONS) * len(example.CONTENDERS)
    assert max(accuracies) < example.BEST + 1.0
    scaled, unscaled, plain = map(float, re.findall(r"gains over weights: ([+-]\d\.\d\d)", printed))
    assert min(scaled, plain) > 2.5
    assert abs(unscaled) < 1.0


@pytest.mark.thorough
def test_the_example_of_missing_views_says_how_accuracy_falls(run_example):
    example, printed = run_example("what_if_one_view_is_missing", "--digits", "150", "--draws", "1")
    found = re.findall(r"^(.*?(?:views|prediction)) +((?:\d+\.\d *){5})$", printed, re.MULTILINE)
    rows = {name: list(map(float, numbers.split())) for name, numbers in found}
    assert len(rows) == 9
    assert len(set(rows["0 % of the views"])) == 1
    half = dict(zip(example.WAYS, rows["50 % of the views"], strict=True))
    assert max(half, key=half.get) == "complete"
    assert half["complete"] < rows["0 % of the views"][0] - 1.0


@pytest.mark.thorough
def test_the_example_of_costs_trades_accuracy_for_cost(run_example):
    example, printed = run_example("what_does_the_last_percent_cost", "--digits", "200", "--folds", "2")
    rows = re.findall(r"^ +(\S+) +(\d+\.\d) ± \d\.\d % +(\d\.\d) +\d+ % +(\d+\.\d) %", printed, re.MULTILINE)
    exponents, accuracies, views, costs = np.array(rows, float).T
    assert exponents.tolist() == list(example.EXPONENTS)
    assert accuracies.min() > 70.0
    assert views[0] > views[-1]
    assert costs[-1] < 0.2 * costs[0]
    assert float(re.search(r"within 1 % .*cost +(\d+) %", printed)[1]) <= 100.0


@pytest.mark.thorough
def test_the_example_of_outliers_says_what_soft_labels_save_and_where_they_harm(run_example):
    example, printed = run_example("what_do_outliers_cost", "--draws", "2")
    clouds, stripes = printed.split("Stripes")
    rows = re.findall(
        r"(\d+)  (labels as given|soft, 9 neighbours) +(\d+\.\d) +(\d+\.\d) +(\d+\.\d\d)", clouds
    )
    figures = {(int(number), name): list(map(float, rest)) for number, name, *rest in rows}
    assert len(figures) == 2 * len(example.OUTLIERS)
    for number in example.OUTLIERS[1:]:
        plain, soft = figures[number, example.PLAIN], figures[number, example.NEIGHBOURS]
        assert plain[1] == number  # every outlier is stored
        assert soft[0] < 0.75 * plain[0] and soft[1] < 0.5 * number
    labels, neighbours, windows = map(float, re.findall(r"(\d+\.\d\d) ±", stripes))
    assert neighbours < labels - 10.0 and abs(windows - labels) < 5.0


@pytest.mark.thorough
def test_the_example_of_learned_weights_says_when_learning_helps(run_example):
    example, printed = run_example("did_learning_the_weights_help", "--digits", "60")
    views, noise = printed.split("Five views and five of noise")
    assert "It was not shown that learning the kernel helped" in views
    assert "Learning the kernel helped in part" in noise and "better than the plain sum" in noise
    for part in (views, noise):
        rows = re.findall(r"^([a-z ]+?) +(\d\.\d{3}) (\d\.\d{3})", part, re.MULTILINE)
        assert {name for name, _, _ in rows} == {"plain sum", "best single view", *example.LEARNERS}


@pytest.mark.thorough
def test_the_example_of_a_network_says_whom_the_neighbours_speak_for(run_example):
    example, printed = run_example("what_do_the_neighbours_say", "--draws", "2")
    rows = re.findall(r"^([a-z:, ]+?) +(\d+\.\d) ± \d+\.\d +(\d+\.\d) ± \d+\.\d +(\d\.\d\d)$", printed, re.M)
    figures = {name: tuple(map(float, rest)) for name, *rest in rows}
    assert tuple(figures) == example.CONTENDERS
    inside, outside, weight = (
        dict(zip(figures, column, strict=True)) for column in zip(*figures.values(), strict=True)
    )
    assert inside[example.BOTH] > inside[example.EXPRESSION] + 4.0
    assert inside[example.REWIRED] < inside[example.BOTH] - 4.0
    assert outside[example.BOTH] > outside[example.NEIGHBOURS] + 5.0
    assert weight[example.EXPRESSION] == 0.0 and 0.0 < weight[example.REWIRED] < weight[example.BOTH] < 1.0


@pytest.mark.thorough
def test_the_example_of_many_rows_says_what_a_rank_costs(run_example):
    example, printed = run_example("what_changes_above_ten_thousand_rows", "--rows", "2000")
    rows = re.findall(
        r"^(\d+(?:, narrow \d+)?) +(\d+\.\d) +\d+\.\d +(\d\.\d{3}) +(\d\.\d{3})$", printed, re.M
    )
    assert [label for label, *_ in rows] == [*map(str, example.RANKS), example.MIXED[0]]
    right, narrow, first = ([float(row[k]) for row in rows] for k in (1, 2, 3))
    assert narrow[:-1] == sorted(narrow[:-1], reverse=True) and narrow[-1] < narrow[-2]
    assert first[-1] == first[example.RANKS.index(example.MIXED[1])]
    assert right[0] < max(right)
    weights = dict(re.findall(r"^  (\w+(?: \d)?) +(\d\.\d\d)$", printed, re.M))
    assert float(weights["first"]) > float(weights["noise 1"])


@pytest.fixture
def data_folder(request, monkeypatch, tmp_path):
    """The shared data, or none and an empty cache."""
    folder = shared_data_folder()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("MULTIKERNEL_DATA", raising=False)
    if request.param:
        monkeypatch.setenv("MULTIKERNEL_DATA", str(folder))


with_and_without_data = pytest.mark.parametrize(
    "data_folder",
    [pytest.param(True, marks=needs_shared_data), False],
    indirect=True,
    ids=["data", "no data"],
)


EXPLAINED = {
    "what_do_genes_and_lipids_tell_of_a_mouse": [],
    "which_property_of_a_protein_tells_its_fold": ["--halves", "2"],
}


@pytest.mark.parametrize("name", EXPLAINED)
@pytest.mark.parametrize("data_folder", [False], indirect=True)
def test_examples_of_explained_models_say_what_they_lack(data_folder, capsys, name):
    load_example(name).main([])
    assert "not at hand: set MULTIKERNEL_DATA" in capsys.readouterr().out


@needs_shared_data
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.thorough) for name in list(EXPLAINED)])
@pytest.mark.parametrize("data_folder", [True], indirect=True)
def test_examples_of_explained_models_say_how_sure_they_are(data_folder, run_example, name):
    _, printed = run_example(name, *EXPLAINED[name])
    assert "Benjamini-Hochberg" in printed
    assert "Shapley values, exact" in printed or "adjusted p" in printed or "largest z" in printed


def test_the_example_of_an_evaluation_runs(run_example):
    example, printed = run_example("is_the_model_as_good_as_it_looks", "--patients", "60")
    assert "On the samples that the refits learned from" in printed and "Held-out accuracy is" in printed
    for name in example.SIGNAL:
        assert f"without {name}" in printed


def test_the_example_of_all_pictures_runs(run_example, tmp_path):
    _, printed = run_example("which_picture_answers_which_question")
    assert "26 pictures are in" in printed and "of 89 samples" in printed
    assert sorted(file.name for file in (tmp_path / "run").glob("*.png")) == [
        "picture.png",
        *(f"picture_{number}.png" for number in (2, 3, 4)),
    ]


@pytest.mark.thorough
@with_and_without_data
def test_the_example_of_a_piecewise_fit_runs(data_folder, request, run_example):
    example, printed = run_example("piecewise_fit", "--folds", "2")
    assert ("is not at hand" in printed) == ("no data" in request.node.name)
    errors = {
        row.split("  ")[0]: float(row.split("±")[1].split()[-1]) for row in printed.splitlines() if "±" in row
    }
    assert list(errors) == list(example.CONTENDERS)
    assert errors[example.BIASED] < 0.7 * errors["weights, degrees one to three"]


@pytest.mark.thorough
@pytest.mark.parametrize("data_folder", [False], indirect=True)
def test_the_pieces_of_linear_kernels_meet_in_one_point_and_those_of_degree_one_do_not(data_folder):
    example = load_example("piecewise_fit")
    _, X, y = example.load_curve()
    spread = {}
    for name in (example.LINEAR, example.BIASED):
        model = example.CONTENDERS[name].set_params(C=1000.0).fit(X, y)
        middle = X.mean(axis=0, keepdims=True)
        spread[name] = np.abs(model.contributions(middle) / model.sample_kernel_weights(middle)).max()
    assert spread[example.LINEAR] < 1e-8 < 1.0 < spread[example.BIASED]


@pytest.mark.thorough
@with_and_without_data
def test_the_example_of_patches_runs_and_tells_persons_from_pictures(data_folder, request, run_example):
    example, printed = run_example("where_does_it_look", "--folds", "2")
    without = "no data" in request.node.name
    assert ("is not at hand" in printed) == without
    rows = {
        kind: re.findall(r"^  (\D+?) +(\d+\.\d) +(\d+\.\d) ", part, re.MULTILINE)
        for kind, part in re.findall(
            r"^(random folds|folds by person) .*\n((?:  .*\n)+)", printed, re.MULTILINE
        )
    }
    assert list(rows) == ([example.RANDOM] if without else [example.RANDOM, example.BY_PERSON])
    found = {kind: {name: float(share) for name, _, share in part} for kind, part in rows.items()}
    assert found[example.RANDOM][example.SIGMOID] > 60.0
    for name, share in found.get(example.BY_PERSON, {}).items():
        assert share < 0.6 * found[example.RANDOM][name]
