"""The study of accuracy on tables: halves, folds, ranks and tests, the store, and the page of a few rows."""

import hashlib
import os
import time

import numpy as np
import pytest
from scipy import stats

from benchmarks.store import Store
from benchmarks.tables import __main__ as command
from benchmarks.tables import claims, noise, page, ranking, running, sets
from benchmarks.tables.contestants import CLASSIFIERS, REGRESSORS, Contestant, area_under_curve, measure_rows
from benchmarks.tables.ranking import Scores
from benchmarks.tables.running import Work
from benchmarks.tables.sets import CLASSIFICATION, NOISE, REGRESSION, VIEWS, DataSet, Fold
from benchmarks.tables.views import CONTESTANTS
from multikernel.kernels import Gaussian, Linear


def rows(part, name, by_contestant, score="accuracy", n=10):
    """Made-up rows: of each contestant the scores of its folds, or messages."""
    found = []
    for contestant, values in by_contestant.items():
        for place, value in enumerate(values):
            about = {"part": part, "set": name, "repetition": place // 2, "fold": place % 2}
            about |= {"contestant": contestant, "n_train": n, "n_test": n, "commit": "commit 0"}
            measured = {"failed": value} if isinstance(value, str) else {score: value, "seconds": 1.0}
            found.append(about | measured)
    return found


# ---------------------------------------------------------------------- sets
def test_halves_follow_from_the_names():
    for name in ("iris", "wine", "splice", "3sources"):
        even = hashlib.sha256(name.encode()).digest()[0] % 2 == 0
        assert sets.half_of(name) == ("choosing" if even else "confirming")
    assert {sets.half_of(name) for name in ("iris", "wine")} == {"choosing", "confirming"}
    assert {sets.half_of(name) for name in sets.CHOOSING} == {"choosing"}
    assert {entry.half for entry in sets.ENTRIES.values() if entry.part == REGRESSION} == {"confirming"}
    counts = [len(claims.sets_of(part)) for part in sets.PARTS]
    assert counts == [26, 7, 19]


def test_folds_are_the_same_each_time_and_no_larger_than_allowed(monkeypatch):
    monkeypatch.setattr(sets, "MAX_TRAIN", 30)
    monkeypatch.setattr(sets, "MAX_TEST", 20)
    data = DataSet("made", np.zeros((100, 1)), np.arange(100) % 2)
    first, again, other = (sets.make_fold(data, repetition, 0, False) for repetition in (0, 0, 1))
    assert len(first.train) == 30 and len(first.test) == 20
    assert not set(first.train) & set(first.test)
    np.testing.assert_array_equal(first.train, again.train)
    assert set(first.train) != set(other.train)
    whole = sets.make_fold(DataSet("made", None, np.arange(40) % 2), 2, 1, False)
    assert np.bincount(np.arange(40)[whole.train] % 2).tolist() == [10, 10]


def test_views_of_noise_are_real_views_in_another_order():
    rng = np.random.default_rng(0)
    tables = {"a": rng.normal(size=(20, 2)), "b": rng.normal(size=(20, 3))}
    found = noise.add_noise(DataSet("made", tables, np.arange(20) % 2), 3)
    assert list(found.X) == ["a", "b", "noise 1", "noise 2", "noise 3"]
    assert len(found.views) == 5 and found.groups["noise 2"] == [3]
    for name, real in (("noise 1", "a"), ("noise 2", "b"), ("noise 3", "a")):
        assert not np.array_equal(found.X[name], tables[real])
        np.testing.assert_array_equal(np.sort(found.X[name][:, 0]), np.sort(tables[real][:, 0]))
    assert not np.array_equal(found.X["noise 1"], found.X["noise 3"])


# ---------------------------------------------------------------------- ranks and tests
def test_ranks_by_hand():
    scores = Scores.of(
        rows(CLASSIFICATION, "s", {"a": [0.9, 0.8], "b": [0.9, 0.8], "c": [0.7, 0.7]})
        + rows(CLASSIFICATION, "t", {"a": [0.5, 0.6], "b": [0.7, 0.8], "c": [0.9, 0.9]})
        + rows(CLASSIFICATION, "u", {"a": [0.5, 0.6]}),
        "accuracy",
    )
    table = ranking.rank_table(scores, ["s", "t", "u"], ["a", "b", "c"])
    assert table == {"s": {"a": 1.5, "b": 1.5, "c": 3.0}, "t": {"a": 3.0, "b": 2.0, "c": 1.0}}
    assert ranking.mean_ranks(table) == {"a": 2.25, "b": 1.75, "c": 2.0}


def test_a_failure_has_the_last_rank():
    scores = Scores.of(
        rows(CLASSIFICATION, "s", {"a": [0.9, 0.8], "b": ["ValueError: no", 0.99], "c": [0.7, 0.7]}),
        "accuracy",
    )
    assert ranking.rank_table(scores, ["s"], ["a", "b", "c"])["s"] == {"a": 1.0, "b": 3.0, "c": 2.0}


@pytest.mark.parametrize("k, q", [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_is_that_of_demsars_table(k, q):
    assert ranking.critical_difference(k, 14) == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 14)), rel=1e-3)


def test_groups_of_equals():
    ranks = {"a": 1.0, "b": 1.5, "c": 2.4, "d": 4.0}
    assert ranking.groups_of_equals(ranks, 1.0) == [(1.0, 1.5), (1.5, 2.4)]
    assert ranking.groups_of_equals(ranks, 5.0) == [(1.0, 4.0)]
    assert ranking.groups_of_equals(ranks, 0.1) == []


def test_the_corrected_t_test_by_hand():
    d = np.array([0.01, 0.03, 0.02, 0.02, 0.04, 0.0, 0.03, 0.01, 0.02, 0.02])
    statistic = d.mean() / np.sqrt((0.1 + 1.0) * d.var(ddof=1))
    assert ranking.resampled_t(d, 1.0) == pytest.approx(2 * stats.t.sf(statistic, 9))
    # without the ratio it is the plain paired test
    assert ranking.resampled_t(d, 0.0) == pytest.approx(stats.ttest_1samp(d, 0.0).pvalue)
    assert ranking.resampled_t(np.zeros(10), 1.0) == 1.0
    assert ranking.resampled_t(d[:2], 1.0) == 1.0


def test_wilcoxon_is_scipys():
    d = [0.03, 0.01, -0.005, 0.02, 0.04, 0.015]
    assert ranking.one_sided_wilcoxon(d) == stats.wilcoxon(d, alternative="greater", method="exact").pvalue
    # by hand: the negative one has rank 1 of 6: two of the 64 signs are as extreme
    assert ranking.one_sided_wilcoxon(d) == pytest.approx(2 / 64)
    assert ranking.one_sided_wilcoxon([0.0, 0.0]) == 1.0
    tied = [0.01, 0.01, 0.0, 0.02]
    expected = stats.wilcoxon(tied, alternative="greater", method="approx", zero_method="zsplit").pvalue
    assert ranking.one_sided_wilcoxon(tied) == expected


def test_a_duel_counts_wins_with_holms_correction():
    better, noisy = np.linspace(0.9, 0.92, 10), np.array([0.8, 0.9] * 5)
    found = ranking.duel(
        Scores.of(
            rows(CLASSIFICATION, "s", {"a": better, "b": better - 0.2 + 0.001 * noisy})
            + rows(CLASSIFICATION, "t", {"a": noisy, "b": noisy[::-1]})
            + rows(CLASSIFICATION, "u", {"a": ["ValueError: no", *better[1:]], "b": better})
            + rows(CLASSIFICATION, "v", {"a": better, "b": ["MemoryError: no", *better[1:]]}),
            "accuracy",
        ),
        ["s", "t", "u", "v", "w"],
        "a",
        "b",
    )
    assert found.verdicts == {"s": "win", "t": "tie", "u": "loss"}
    assert [found.count(verdict) for verdict in ("win", "tie", "loss")] == [1, 1, 1]
    assert [found.compare(sign) for sign in (1, 0, -1)] == [1, 1, 1]
    # Holm doubles the smaller of two p-values: one just below the level is no win
    gap = 0.02 + 0.0247 * np.array([1, -1] * 5)
    p = ranking.resampled_t(gap, 1.0)
    halfway = Scores.of(
        rows(CLASSIFICATION, "s", {"a": noisy + 0.02, "b": noisy + 0.02 - gap})
        + rows(CLASSIFICATION, "t", {"a": noisy, "b": noisy[::-1]}),
        "accuracy",
    )
    duel = ranking.duel(halfway, ["s", "t"], "a", "b")
    assert duel.raw["s"] == ("win" if p <= 0.05 else "tie")
    assert duel.verdicts["s"] == ("win" if 2 * p <= 0.05 else "tie")


def test_the_area_of_several_classes_is_the_mean_of_one_against_the_rest():
    y = np.array([0, 0, 1, 1, 2, 2])
    scores = np.array([[3, 0, 0], [2, 1, 0], [0, 3, 0], [0, 0, 1], [0, 1, 2], [0, 0, 3.0]])
    # of class 1: eight pairs, of which (1, 0 of class 1) lose or tie
    areas = [1.0, (4 + 0.5 * 2) / 8, 1.0]
    assert area_under_curve(y, scores, np.arange(3)) == pytest.approx(np.mean(areas))
    assert area_under_curve(y[:4], np.array([0.1, 0.4, 0.3, 0.9]), np.arange(2)) == 0.75


# ---------------------------------------------------------------------- claims
def test_the_default_may_be_two_points_or_two_errors_behind():
    level, apart = [0.8] * 4, [0.5, 0.9, 0.5, 0.9]
    found = claims.behind_svc(
        Scores.of(
            rows(CLASSIFICATION, "iris", {"mkl": [0.785] * 4, "svc": level})
            + rows(CLASSIFICATION, "wine", {"mkl": [0.77] * 4, "svc": level})
            + rows(CLASSIFICATION, "wdbc", {"mkl": apart, "svc": level})
            + rows(CLASSIFICATION, "sonar", {"mkl": ["ValueError: no", *apart], "svc": level}),
            "accuracy",
        )
    )
    verdicts = {one.name: one.met for one in found}
    assert verdicts == {"iris": True, "wine": False, "wdbc": True, "sonar": False}
    worst = next(one for one in found if one.name == "wdbc")
    assert worst.allowed == pytest.approx(2 * np.std(apart, ddof=1) / 2)


def test_claims_are_met_or_missed_by_the_data():
    confirming = claims.sets_of(CLASSIFICATION, "confirming")
    assert len(confirming) >= 6
    made = []
    for k, name in enumerate(confirming):
        lead = 0.01 + 0.001 * k
        made += rows(
            CLASSIFICATION, name, {"mkl_cv": [0.9 + lead] * 4} | {c: [0.9] * 4 for c in claims.RIVALS}
        )
    scores = Scores.of(made, "accuracy")
    assert [claims.best_rank(scores).met, claims.better_than_svc(scores).met] == [True, True]
    assert claims.behind_none(scores).met is True
    for row in made:
        row["accuracy"] = 1.8 - row["accuracy"]
    scores = Scores.of(made, "accuracy")
    assert [claims.best_rank(scores).met, claims.better_than_svc(scores).met] == [False, False]
    assert claims.behind_none(scores).met is False
    assert {claim.verdict for claim in claims.all_claims([])} == {"not measured"}


def test_costs_are_compared_on_the_folds_that_both_have():
    made = rows(CLASSIFICATION, "iris", {"mkl": [0.9, 0.9], "mkl_seven": [0.9]})
    made[0]["seconds"], made[1]["seconds"], made[2]["seconds"] = 3.0, 100.0, 1.0
    assert claims.cost_ratios(made) == {"iris": 3.0}
    mean, worst = claims.default_costs(made)
    assert (mean.met, worst.met) == (False, False)


# ---------------------------------------------------------------------- the store and the order of work
def test_the_order_is_breadth_first():
    works = running.plan(sets.PARTS, 2, ["iris", "boston", "mfeat"])
    places = [(work.repetition, work.name) for work in works]
    assert places == sorted(places, key=lambda place: place[0])
    assert {name for repetition, name in places if repetition == 0} == {"iris", "boston", "mfeat"}
    assert len(works) == 2 * 2 * (len(CLASSIFIERS) + len(REGRESSORS) + len(CONTESTANTS))
    chosen = running.plan([CLASSIFICATION], 1, ["iris"], ["svc"])
    assert [work.key for work in chosen] == ["classification/iris/0/0/svc", "classification/iris/0/1/svc"]


class Here:
    """A worker in this process."""

    def __init__(self, perform, minutes):
        self.perform = perform

    def measure(self, work):
        return self.perform(work)

    def close(self):
        pass


def test_a_run_skips_what_is_there_and_keeps_failures(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "Worker", Here)
    done = []

    def perform(work):
        done.append(work.contestant)
        if work.contestant == "forest":
            return {"failed": "ValueError: no", "wall": 0.0}
        return {"accuracy": 0.5, "seconds": 0.1, "wall": 0.1, "n_train": 5, "n_test": 5}

    def go(*options):
        asked = command.parse_arguments(["--only", "iris", "--repeats", "1", *options])
        store = command.open_store(tmp_path / "rows.jsonl")
        works = running.plan(asked.parts, asked.repeats, asked.only, asked.contestants)
        about = {"package": "new"}
        waiting = [w for w in works if command.is_pending(w, store.get(w.key), asked.again, "new")]
        return running.run(waiting, store, about, perform=perform, jobs=2), store

    assert go("--contestants", "svc,forest")[0] == 4
    n, store = go()
    assert n == 2 * (len(CLASSIFIERS) - 2) and len(store.records) == 2 * len(CLASSIFIERS)
    assert store.get("classification/iris/0/1/forest")["failed"] == "ValueError: no"
    assert go()[0] == 0
    assert go("--again", "failed")[0] == 2
    for record in store.records.values():
        record["package"] = "old"
    pending = [
        work.contestant
        for work in running.plan([CLASSIFICATION], 1, ["iris"])
        if command.is_pending(work, store.get(work.key), "stale", "new")
    ]
    assert set(pending) == {name for name, c in CLASSIFIERS.items() if c.is_ours}
    assert running.run([Work("", "", 0, 0, "")], store, {}, perform=perform, minutes=0.0) == 0


def test_unknown_names_are_refused():
    with pytest.raises(SystemExit, match="--only takes"):
        command.parse_arguments(["--only", "no_such_set"])
    with pytest.raises(SystemExit, match="--contestants takes"):
        command.parse_arguments(["--contestants", "nobody"])
    with pytest.raises(SystemExit, match="--parts takes"):
        command.parse_arguments(["--parts", "all"])


@pytest.mark.parametrize(
    "perform, given, message", [(time.sleep, 60.0, "took more than 0.6 s"), (os._exit, 3, "exit code 3")]
)
def test_a_process_that_hangs_or_dies_is_a_failure(perform, given, message):
    worker = running.Worker(perform, 0.01)
    try:
        worker.start(warm=False)
        assert message in worker.measure(given)["failed"]
    finally:
        worker.close()


# ---------------------------------------------------------------------- fits
@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    return X, (X[:, 0] + X[:, 2] > 0).astype(int)


def test_a_fit_is_measured_and_a_failure_is_kept(tables):
    X, y = tables
    data, fold = DataSet("made", X, y), Fold(np.arange(40), np.arange(40, 80), 0)
    for name in ("mkl_cv", "svc", "logistic"):
        found = measure_rows(data, fold, CLASSIFIERS[name], False)
        assert found["accuracy"] > 0.8 and found["auc"] > 0.9 and 0.0 < found["log_loss"] < 0.6
        assert found["seconds"] >= 0.0 and (found["n_train"], found["n_test"]) == (40, 40)
    assert "log_loss" not in measure_rows(data, fold, CLASSIFIERS["mkl_seven"], False)
    values = measure_rows(DataSet("made", X, X[:, 0] * 2.0), fold, REGRESSORS["mkl_ridge"], True)
    assert values["r2"] > 0.9 and values["chosen"]["status"] == "optimal"

    def refuse(task):
        raise ValueError("not today")

    assert measure_rows(data, fold, Contestant("no", refuse), False)["failed"] == "ValueError: not today"


@pytest.mark.parametrize("given", [False, True])
def test_contestants_on_views(tables, given, monkeypatch):
    X, y = tables
    parts = {"a": X[:, :2], "b": X[:, 2:]}
    if given:
        kernels = {name: {"linear": table @ table.T} for name, table in parts.items()}
        data = sets.given_kernels("made", kernels, y)
    else:
        kernels = {"linear": Linear(), "Gaussian": Gaussian("median")}
        data = sets.viewed("made", parts, y, kernels, True)
    monkeypatch.setattr("benchmarks.tables.views.N_TREES", 20)
    fold = Fold(np.arange(40), np.arange(40, 80), 0)
    for name, contestant in CONTESTANTS.items():
        found = measure_rows(data, fold, contestant, False)
        assert "failed" not in found, (name, found)
        assert found["accuracy"] > 0.6 and found["log_loss"] > 0.0
        if name in ("mkl_cv", "sum", "stacking"):
            assert found["accuracy"] > 0.8


# ---------------------------------------------------------------------- the page
@pytest.fixture
def any_threads(monkeypatch):
    """The page names the thread pools, and would refuse more threads than one."""
    monkeypatch.setattr(page, "describe_machine", lambda peers: {"processor": "one"})


def test_the_page_of_a_tiny_store(tmp_path, any_threads):
    store = Store(tmp_path / "rows.jsonl", "run", resume=True)
    made = []
    for k, name in enumerate(("iris", "wine", "heart_statlog", "sonar", "wdbc", "spambase")):
        values = {c: np.full(4, 0.8 + 0.01 * ((j + k) % 8)) for j, c in enumerate(CLASSIFIERS)}
        made += rows(CLASSIFICATION, name, values)
    made += rows(REGRESSION, "boston", {c: [0.5, 0.6] for c in REGRESSORS}, "r2")
    made += rows(REGRESSION, "mcycle", {c: [0.5, "ValueError: a | b"] for c in REGRESSORS}, "r2")
    for name in ("3sources", "tcga_breast", "nutrimouse"):
        made += rows(VIEWS, name, {c: [0.7, 0.75] for c in CONTESTANTS})
    for count in (0, 5):
        made += rows(NOISE, f"tcga_breast+{count}", {c: [0.7, 0.75] for c in noise.RIVALS})
    made.append(rows(CLASSIFICATION, "a set that went", {"mkl": [0.5]})[0])
    for row in made:
        key = "/".join(str(row[name]) for name in ("part", "set", "repetition", "fold", "contestant"))
        store.write(key, row)
    written = page.write_page(store, tmp_path / "page" / "tables.md")
    text = written[0].read_text()
    assert all(path.exists() for path in written) and len(written) > 5
    assert all(f"({path.name})" in text for path in written[1:])
    assert text.startswith("---\norphan: true\n---\n") and "a set that went" not in text
    wanted = 26 * 10 * len(CLASSIFIERS)
    assert f"| classification | {6 * 4 * len(CLASSIFIERS)} | {wanted} | 24 of 260 | 0 |" in text
    assert "so far" in text and "(1 failed)" in text and "ValueError: a / b" in text
    for line in text.splitlines():
        if line.startswith("| asked for"):
            assert line.count("|") == 4
    blocks = [block for block in text.split("\n\n") if block.startswith("|")]
    for block in blocks:
        assert len({line.count("|") for line in block.splitlines()}) == 1, block


def test_the_page_of_nothing_says_so(tmp_path, any_threads):
    store = Store(tmp_path / "rows.jsonl", "run", resume=True)
    (written,) = page.write_page(store, tmp_path / "tables.md")
    text = written.read_text()
    assert text.count("Not measured yet") > 5 and "| not measured |" in text
