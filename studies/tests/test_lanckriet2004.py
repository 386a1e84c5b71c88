"""The study of Lanckriet et al. (2004): its kernels, splits, machines and rows, and a small real run."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from sklearn.svm import SVC

from multikernel.kernels import diffusion_kernel, unit_diagonal
from studies import get_study, run_table, yeast
from studies.data import VARIABLE
from studies.lanckriet2004 import gaussians, margins, protein, reuters, tuned
from studies.lanckriet2004.claims import judge
from studies.lanckriet2004.machine import CRITERIA, Task, fit_machine
from studies.lanckriet2004.margins import COLUMNS, TUNED
from studies.lanckriet2004.setting import HEART, TWONORM, Setting, draw_split
from studies.points import three_kernels
from studies.study import VERDICTS

pytestmark = pytest.mark.thorough

STUDY = get_study("lanckriet2004")


def two_clouds(seed, n, d=3, distance=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.normal(size=(n, d)) + distance * y[:, None], y


# --- kernels and splits ------------------------------------------------------------------------------------


def test_the_three_kernels_are_their_formulas():
    X, _ = two_clouds(0, 12)
    K1, K2, K3 = three_kernels(X, sigma=0.7)
    for i, x in enumerate(X):
        for j, z in enumerate(X):
            poly = (1 + x @ z) ** 2 / ((1 + x @ x) * (1 + z @ z))
            assert K1[i, j] == pytest.approx(poly)
            assert K2[i, j] == pytest.approx(np.exp(-0.5 * ((x - z) ** 2).sum() / 0.7))
            assert K3[i, j] == pytest.approx(x @ z / np.sqrt((x @ x) * (z @ z)))


def test_a_split_is_a_permutation_that_its_number_gives(data_folder):
    X = np.arange(80.0).reshape(40, 2)
    y = np.r_[np.ones(38, int), 0, 0]  # two of the class 0: one of them must be on either side
    data_folder(few=dict(X=X, y=y))
    setting = Setting("few", 1.0)
    for number in range(20):
        split = draw_split(setting, number)
        assert split.n_train == 32
        assert sorted(split.X[:, 0]) == sorted(X[:, 0])
        np.testing.assert_array_equal(split.y, np.where(split.X[:, 0] >= 76, -1, 1))
        assert set(split.y[:32]) == set(split.y[32:]) == {-1, 1}
        np.testing.assert_array_equal(split.X, draw_split(setting, number).X)
    assert not np.array_equal(draw_split(setting, 0).X, draw_split(setting, 1).X)


def test_columns_are_standardised_and_samples_drawn_where_the_setting_says_so(data_folder):
    X, y = two_clouds(1, 50)
    data_folder(cloud=dict(X=np.c_[X, np.ones(50)], y=(y > 0).astype(int)))
    scaled = draw_split(Setting("cloud", 1.0, standardized=True), 0).X
    np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), [1, 1, 1, 0])
    sampled = draw_split(Setting("cloud", 1.0, sample=(9, 11)), 0)
    assert sampled.X.shape == (20, 4)
    assert sampled.n_train == 16
    assert len({tuple(row) for row in sampled.X}) == 20
    assert (sampled.y == 1).sum() == 11


def test_the_sample_of_2_norm_gives_the_printed_value_of_the_identity():
    """omega / 2 of 3 I is 2 / (3 (1/n+ + 1/n-)) of the training points, whose shares vary a little."""
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], TWONORM.sample)
    values, shares = [], []
    for _ in range(2000):
        order = rng.permutation(y)
        train, test = order[: round(0.8 * len(y))], order[round(0.8 * len(y)) :]
        values.append(2 / (3 * (1 / (train == 1).sum() + 1 / (train == -1).sum())))
        shares.append((test == 1).mean())
    assert np.mean(values) == pytest.approx(43.509, abs=0.05)
    assert 100 * np.mean(shares) == pytest.approx(55.4, abs=0.5)


# --- machines ----------------------------------------------------------------------------------------------


def test_a_single_kernel_is_the_support_vector_machine_of_scikit_learn():
    """With trace 3n the matrix is three times a kernel with unit diagonal; omega / 2 is the SVM's dual."""
    X, y = two_clouds(2, 60, distance=0.5)
    n_train, K = 48, three_kernels(X, sigma=1.0)[2]
    found = fit_machine(Task([K], y, n_train, 3.0 * 60), "SM1", "nonnegative")
    assert found["weights"] == pytest.approx([3.0])
    machine = SVC(C=1.0, kernel="precomputed", tol=1e-9).fit(3.0 * K[:n_train, :n_train], y[:n_train])
    dual = np.zeros(n_train)
    dual[machine.support_] = machine.dual_coef_[0]
    value = np.abs(dual).sum() - 0.5 * dual @ (3.0 * K[:n_train, :n_train]) @ dual
    assert found["value"] == pytest.approx(value, rel=1e-6)
    accuracy = np.mean(machine.predict(3.0 * K[n_train:, :n_train]) == y[n_train:])
    assert found["accuracy"] == pytest.approx(100.0 * accuracy)
    assert found["ridge"] is None


def test_the_value_of_the_hard_margin_is_the_margin():
    """Points on a line at −1 and +1, as inner products: the margin is half their distance."""
    X = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    found = fit_machine(Task([X @ X.T], np.array([-1, 1, -1, 1]), 2, 4.0), "HM", "nonnegative")
    assert found["value"] == pytest.approx(1.0)
    assert found["accuracy"] == 100.0


def test_an_inseparable_hard_margin_is_an_answer_and_other_errors_are_errors():
    X, y = np.array([[-1.0], [1.0], [-1.0], [1.0], [2.0]]), np.array([-1, 1, 1, -1, 1])
    task = Task([X @ X.T], y, 4, 5.0)
    assert fit_machine(task, "HM", "nonnegative") == {"separable": False}
    with pytest.raises(ValueError, match="trace"):
        fit_machine(replace(task, trace=-1.0), "HM", "nonnegative")


# --- rows --------------------------------------------------------------------------------------------------


def machine(value, ridge=None, status="optimal"):
    found = {"separable": True, "value": value, "accuracy": 10 * value, "weights": [value, 1.0, 0.0]}
    return found | {"ridge": ridge, "gap": 0.0, "status": status}


def margin_results(table, splits, change=lambda unit, machines: None):
    """Made-up results of the units of a table: value 2 on the first split, 3 on the second and so on."""
    results = []
    for unit in table.units(splits):
        value = 2.0 + unit.arguments["split"]
        if "margin" in unit.arguments:
            results.append((unit, {"accuracy": 10 * value, "sigma": 1.0, "C": 1.0}))
            continue
        ridge = 0.5 if unit.arguments["criterion"] == "SM2,C" else None
        machines = {column: machine(value, ridge) for column in COLUMNS}
        for column in ("K1", "K2", "K3"):
            machines[column]["weights"] = [value]
        change(unit, machines)
        results.append((unit, machines))
    return results


def test_rows_say_what_was_separable_what_c_was_and_what_is_published():
    def change(unit, machines):
        criterion, split = unit.arguments["criterion"], unit.arguments["split"]
        if criterion == "HM" and split == 0:
            machines["K3"] = {"separable": False}
        if criterion == "SM1" and split == 1:
            machines["free"] = machine(3.0, status="max_iter")
        if criterion == "SM2,C" and split == 0:  # C is infinite
            machines["K2"]["ridge"] = 0.0

    table = STUDY.table("1")
    found = table.rows(margin_results(table, 2, change))
    rows = {
        (row["labels"]["criterion"], row["labels"]["kernel"]): row
        for row in found
        if row["section"] == "heart"
    }
    assert len(rows) == len(CRITERIA) * (len(COLUMNS) + 1)
    hard = rows["HM", COLUMNS["K3"]]
    assert hard["remark"] == "separable on 1 of 2 splits"
    assert hard["values"]["value"]["mean"] == 3.0
    assert hard["values"]["value"]["published"] is None
    free = rows["SM1", COLUMNS["free"]]
    assert free["remark"] == "a negative weight on 0 of 2 splits; not solved to tolerance on 1 of 2 splits"
    assert free["values"]["weights"]["printed"] == ["-0.09", "2.68", "0.41"]
    assert free["values"]["weights"]["difference"] == pytest.approx([2.59, -1.68, -0.41])
    learned = rows["SM2,C", COLUMNS["nonnegative"]]
    assert learned["values"]["C"]["mean"] == 2.0
    assert learned["values"]["C"]["published"] == 0.4365
    without = rows["SM2,C", COLUMNS["K2"]]
    assert without["remark"] == "C above 10000 on 1 of 2 splits"
    assert without["values"]["C"]["mean"] is None
    plain = rows["SM1", COLUMNS["K1"]]["values"]
    assert set(plain) == {"value", "accuracy"}  # its weight is given by the trace
    assert plain["value"]["mean"] == 2.5
    assert plain["value"]["printed"] == "58.169"
    assert plain["accuracy"]["published"] == 79.3
    assert plain["value"]["se_difference"] == pytest.approx(np.sqrt(0.5 * (1 / 2 + 1 / 30)))
    best = rows["HM", TUNED]
    assert best["values"]["accuracy"]["printed"] == "77.7"
    assert best.get("counts", True)
    assert not rows["SM2,C", TUNED]["counts"]  # printed twice, compared once


def test_rivals_on_fewer_splits_say_so(monkeypatch):
    monkeypatch.setattr(margins, "TUNED_SPLITS", 2)
    monkeypatch.setattr(margins, "TUNED_WHOLE", frozenset())
    table = STUDY.table("3")
    rows = table.rows(margin_results(table, 3))
    (row,) = [r for r in rows if r["labels"] == {"criterion": "SM1", "kernel": TUNED}]
    assert row["remark"] == "2 of 30 splits done, not counted"
    assert row["values"]["accuracy"]["n"] == 2
    assert not row["counts"]
    compete = [claim for claim in judge(summaries_of(3, better)) if "tuned SVM" in claim.sentence]
    assert [claim.verdict for claim in compete] == ["cannot be tested"] * 2


def test_the_experiment_of_our_own_differs_from_table_1_by_sigma_only():
    own, units = STUDY.own["sonar-width"], STUDY.table("1").units(1)
    ours = [unit.arguments for unit in own.units(1)]
    theirs = [u.arguments for u in units if u.key.startswith("sonar") and "criterion" in u.arguments]
    for mine, printed in zip(ours, theirs, strict=True):
        assert mine["setting"].pop("sigma") == 0.5
        assert printed["setting"].pop("sigma") == 0.1
        assert mine == printed


# --- the tuned rivals --------------------------------------------------------------------------------------


def test_a_rival_is_tuned_on_the_training_points_alone(data_folder, monkeypatch):
    """With other labels of the test points, which it must not see, it is the same machine."""
    monkeypatch.setattr(tuned, "PARTITIONS", 3)
    X, y = two_clouds(3, 60)
    setting = Setting("cloud", 1.0)
    labels = (y > 0).astype(int)
    data_folder(cloud=dict(X=X, y=labels))
    split = draw_split(setting, 0)
    found = {margin: tuned.tune_gaussian(setting.arguments(), 0, margin) for margin in tuned.MARGINS}
    is_test = [tuple(row) in {tuple(x) for x in split.X[split.n_train :]} for row in X]
    data_folder(cloud=dict(X=X, y=np.where(is_test, 1 - labels, labels)))
    for margin, before in found.items():
        after = tuned.tune_gaussian(setting.arguments(), 0, margin)
        assert (after["sigma"], after["C"]) == (before["sigma"], before["C"])
        assert after["accuracy"] == pytest.approx(100.0 - before["accuracy"])
        assert before["accuracy"] > 75.0
    assert found["HM"]["C"] is None
    assert found["SM2"]["C"] in tuned.C_GRID


def test_the_machine_of_a_rival_is_that_of_the_tables():
    X, y = two_clouds(4, 60, distance=0.6)
    K = three_kernels(X, 2.0)[1]
    train, test = np.arange(48), np.arange(48, 60)
    for margin in tuned.MARGINS:
        ours = fit_machine(Task([K], y, 48, 60.0), margin, "nonnegative")["accuracy"]
        assert 100 * tuned.share_right(K, y, train, test, margin, None if margin == "HM" else 1.0) == ours


def test_a_hard_margin_that_does_not_exist_gets_nothing_right():
    X, y = np.array([[-1.0], [1.0], [-1.0], [1.0], [2.0]]), np.array([-1, 1, 1, -1, 1])
    assert tuned.share_right(X @ X.T, y, np.arange(4), np.array([4]), "HM", None) == 0.0


# --- table 4 and the figures, on made-up data --------------------------------------------------------------


def test_table_4_learns_five_weights(data_folder):
    X, y = two_clouds(3, 60)
    data_folder(cloud=dict(X=X, y=(y > 0).astype(int)))
    learned = gaussians.compute_split(Setting("cloud", 1.0).arguments(), 0)
    assert len(learned["weights"]) == 5
    assert sum(learned["weights"]) + learned["ridge"] == pytest.approx(5.0)
    assert learned["accuracy"] > 75.0


def gaussian_results(splits):
    results = []
    for unit in STUDY.table("4").units(splits):
        value = 80.0 + unit.arguments["split"]
        if "margin" in unit.arguments:
            results.append((unit, {"accuracy": value - 1.0, "sigma": 1.0, "C": 1.0}))
        else:
            results.append(
                (unit, machine(value, 0.25) | {"accuracy": value, "weights": [0, 0, 3.0, 1.0, 1.0]})
            )
    return results


def test_the_rows_of_table_4_stand_beside_its_cells():
    rows = STUDY.table("4").rows(gaussian_results(2))
    assert [row["labels"]["data"] for row in rows] == [
        "breast cancer",
        "ionosphere",
        "heart",
        "sonar",
        "2-norm",
    ]
    values = rows[2]["values"]
    assert values["weights"]["printed"] == ["0", "3.89", "0.06", "1.05", "0"]
    assert values["C"]["printed"] == "2.5e+05"
    assert values["tuned"]["printed"] == "83.2"
    assert values["gain"]["mean"] == 1.0


def news(rng, n_each=130, n_words=40):
    """Five categories, each with favourite words of its own."""
    y = np.repeat(np.arange(5), n_each)
    rates = np.full((5, n_words), 0.2)
    for category in range(5):
        rates[category, 8 * category : 8 * category + 8] = 1.0
    return rng.poisson(rates[y]) + (np.arange(n_words) == 0), y


def write_news(folder, **more):
    counts, y = news(np.random.default_rng(4))
    sparse = scipy.sparse.csr_matrix(counts)
    arrays = {f"csr_{part}": getattr(sparse, part) for part in ("data", "indices", "indptr")}
    is_test = np.random.default_rng(5).uniform(size=len(y)) < 0.4
    names = np.array(["earn", "acq", "crude", "trade", "money-fx"])
    return y, dict(csr_shape=np.array(counts.shape), is_test=is_test, class_names=names, **arrays)


@pytest.mark.parametrize("is_real", [False, True])
def test_figure_1_tells_topics_apart_and_draws(data_folder, tmp_path, monkeypatch, is_real):
    y, arrays = write_news(data_folder)
    monkeypatch.setenv(VARIABLE, "")
    if is_real:  # a file that the user brings, where a document may have several topics
        np.savez(tmp_path / "reuters_modapte.npz", topics=np.eye(5, dtype=int)[y], **arrays)
        monkeypatch.setenv(VARIABLE, str(tmp_path))
    data_folder(reuters_r8_top5=dict(y=y, **arrays))
    monkeypatch.setattr(reuters, "N_CONCEPTS", 5)
    monkeypatch.setattr(reuters, "N_TRAIN", 120)
    reuters._memberships.cache_clear()
    figure = STUDY.figure("1")
    results = [(unit, unit.function(**unit.arguments)) for unit in figure.units(2)]
    reuters._memberships.cache_clear()
    assert results[0][0].datasets == ("reuters_modapte" if is_real else "reuters_r8_top5",)
    for found in results[0][1].values():
        assert set(found["accuracy"]) == set(reuters.METHODS)
        assert min(found["accuracy"].values()) > 85.0
        assert sum(found["weights"]) == pytest.approx(2.0)
    rows = figure.rows(results)
    assert len(rows) == 5 + 5 + 1
    assert all(bool(row.get("stand_in")) != is_real for row in rows)
    assert rows[-1]["values"]["weights"]["printed"] == ["1.37", "0.63"]
    mean = np.mean([topic["weights"] for _, result in results for topic in result.values()], axis=0)
    assert rows[-1]["values"]["weights"]["mean"] == pytest.approx(mean.tolist())
    reuters.draw_figure({"rows": rows}, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_the_training_documents_are_of_the_training_part(data_folder, monkeypatch):
    y, arrays = write_news(data_folder)
    data_folder(reuters_r8_top5=dict(y=y, **arrays))
    monkeypatch.setattr(reuters, "N_CONCEPTS", 2)
    monkeypatch.setattr(reuters, "N_TRAIN", 50)
    seen = []
    monkeypatch.setattr(reuters, "_judge", lambda Ks, y, n_train: seen.append((Ks[0].shape, n_train)) or {})
    reuters._memberships.cache_clear()
    reuters.compute_repeat("reuters_r8_top5", 0)
    reuters._memberships.cache_clear()
    n_test = int(arrays["is_test"].sum())
    assert seen == [((50 + n_test, 50), 50)] * 5


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_cosines_are_seen_from_the_mean_of_the_training_rows(kind):
    table = np.random.default_rng(0).poisson(1.0, (9, 4)).astype(float)
    centred = table - table[:6].mean(axis=0)
    lengths = np.linalg.norm(centred, axis=1)
    expected = centred @ centred[:6].T / np.outer(lengths, lengths[:6])
    np.testing.assert_allclose(reuters.centred_cosines(kind(table), 6), expected, atol=1e-12)


def test_concepts_are_the_shares_of_the_words_that_documents_mix():
    """Words 0–3 are of one concept, 4–7 of another: memberships are the shares of these words."""
    rng = np.random.default_rng(1)
    shares = np.r_[np.ones(30), np.zeros(30), rng.uniform(size=20)]
    rates = np.c_[np.repeat(shares[:, None], 4, axis=1), np.repeat(1 - shares[:, None], 4, axis=1)]
    counts = rng.poisson(25 * rates)
    is_training = np.arange(80) < 60  # the mixed documents are inferred afterwards
    found = reuters.concept_memberships(scipy.sparse.csr_matrix(counts), is_training, 2, n_steps=300)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    first = found[:, np.argmax(found[0])]
    np.testing.assert_allclose(first, counts[:, :4].sum(axis=1) / counts.sum(axis=1), atol=0.02)


def test_protein_functions_follow_the_network_that_knows_them(data_folder, tmp_path, monkeypatch):
    """The first network has two communities; the second, with its proteins in another order, none."""
    rng = np.random.default_rng(6)
    n, community = 50, np.arange(50) % 2
    together = community[:, None] == community
    first = np.argwhere(np.triu(rng.uniform(size=(n, n)) < np.where(together, 0.4, 0.02), 1))
    second = np.argwhere(np.triu(rng.uniform(size=(n, n)) < 0.2, 1))
    ids = np.array([f"P{i:02d}" for i in range(n)])
    labels = dict(Y=np.repeat(community[:, None], 13, axis=1), label_names=np.array(list(protein.CLASSES)))
    order = rng.permutation(n)
    data_folder(
        yeast_string=dict(edges=first, weights=np.ones(len(first)), protein_ids=ids, **labels),
        yeast_biogrid=dict(edges=second, weights=np.ones(len(second)), protein_ids=ids[order], **labels),
    )
    monkeypatch.setenv(VARIABLE, "")
    clear_yeast()
    try:
        Ks, values = yeast.kernels_and_labels()
        np.testing.assert_array_equal(values["01"], community)
        for K in Ks:
            np.testing.assert_allclose(K.diagonal(), 1.0)
        assert Ks[0][together].mean() > 3 * Ks[0][~together].mean()
        A = np.zeros((n, n))
        for i, j in order[second]:  # the second network counts its proteins in another order
            A[i, j] = A[j, i] = 1.0
        np.testing.assert_allclose(Ks[2], unit_diagonal(diffusion_kernel(A, 1.0)))
        units = [u for u in STUDY.figure("2").units(1) if u.arguments["label"] in ("01", "02")]
        results = [(unit, unit.function(**unit.arguments)) for unit in units]
    finally:
        clear_yeast()
    assert len(results) == 2 * protein.FOLDS
    areas = {key: np.mean([result["area"][key] for _, result in results]) for key in results[0][1]["area"]}
    assert areas["string_3"] > 0.9
    assert areas["string_3"] > areas["biogrid_3"]
    weights = results[0][1]["weights"]["learned"]
    assert sum(weights) == pytest.approx(4.0)
    assert sum(weights[:2]) > sum(weights[2:])
    rows = STUDY.figure("2").rows(results)
    names = [f"01 {protein.CLASSES['01']}", f"02 {protein.CLASSES['02']}"]
    assert [row["labels"]["class"] for row in rows] == [*names, "mean of the classes", *names]
    assert all(row["stand_in"] for row in rows)
    assert rows[2]["values"]["learned"]["mean"] == pytest.approx(areas["learned"])
    assert rows[2]["values"]["learned"]["printed"] == "0.854"
    assert rows[2]["values"]["field"]["printed"] == "0.715"
    protein.draw_figure({"rows": rows}, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def clear_yeast():
    yeast.kernels_and_labels.cache_clear()
    protein._bank.cache_clear()


def test_the_kernels_of_a_user_are_no_stand_in(tmp_path, monkeypatch):
    rng = np.random.default_rng(7)
    labels = np.arange(60) % 2
    features = rng.normal(size=(60, 3)) + labels[:, None]
    keys = (*protein.BINARY, *protein.ENRICHED)
    kernels = {f"K_{key}": three_kernels(features + 0.1 * i, 1.0)[2] for i, key in enumerate(keys)}
    np.savez(tmp_path / "yeast_deng2003.npz", Y=labels[:, None], class_names=np.array(["energy"]), **kernels)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    protein._bank.cache_clear()
    results = [(unit, unit.function(**unit.arguments)) for unit in STUDY.figure("2").units(1)]
    protein._bank.cache_clear()
    found = results[0][1]
    assert set(found["area"]) == {*keys, "learned", "enriched"}
    assert len(found["weights"]["learned"]) == 5
    assert len(found["weights"]["enriched"]) == 5  # two kernels for two others
    rows = STUDY.figure("2").rows(results)
    assert not any(row.get("stand_in") for row in rows)


@pytest.mark.parametrize(("name", "loader"), [(reuters.REAL, reuters._topics), (protein.REAL, protein._bank)])
def test_a_file_of_a_user_without_an_array_is_refused(tmp_path, monkeypatch, name, loader):
    np.savez(tmp_path / f"{name}.npz", class_names=np.array(["energy"]))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(ValueError, match=f"{name}.*must have the arrays .*lacks .*--data help"):
        loader(name)


# --- claims ------------------------------------------------------------------------------------------------


def summaries_of(splits, change=lambda unit, machines: None):
    rows = {f"table{name}": STUDY.table(name) for name in "123"}
    found = {
        stem: {"rows": table.rows(margin_results(table, splits, change))} for stem, table in rows.items()
    }
    own = STUDY.own["sonar-width"]
    found["own-sonar-width"] = {"rows": own.rows(margin_results(own, splits, change))}
    found["table4"] = {"rows": STUDY.table("4").rows(gaussian_results(splits))}
    topic = {"accuracy": dict.fromkeys(reuters.METHODS, 90.0), "weights": [1.2, 0.8]}
    topic["accuracy"]["learned"] = 91.0
    unit = reuters.Unit("a", reuters.compute_repeat, {"dataset": reuters.STAND_IN, "repeat": 0})
    found["figure1"] = {"rows": reuters._rows([(unit, {f"topic {i}": topic for i in range(5)})])}
    unit = reuters.Unit("a", protein.compute_fold, {"dataset": "networks", "label": "01"})
    area = {key: 0.8 for key in yeast.SINGLE} | {"learned": 0.85}
    result = {"area": area, "weights": {"learned": [1.0, 1.0, 1.0, 1.0]}}
    found["figure2"] = {"rows": protein._rows([(unit, result)])}
    return found


def better(unit, machines):
    """Combinations that are better than the components, and a smaller cost where C is learned."""
    criterion = unit.arguments["criterion"]
    for column, gain in (("free", 1.2), ("nonnegative", 1.18)):
        machines[column]["value"] *= gain if criterion == "HM" else 1.0 / gain
        machines[column]["accuracy"] += gain
        machines[column]["value"] *= 0.99 if criterion == "SM2,C" else 1.0


def test_claims_are_judged_by_the_rows():
    claims = judge(summaries_of(2, better))
    verdicts = {claim.sentence: claim.verdict for claim in claims}
    assert set(verdicts.values()) <= set(VERDICTS)
    (larger,) = [claim for claim in claims if claim.sentence.startswith("The margin of both")]
    assert larger.verdict == "reproduced"
    assert "better than the best component in 10 of 10" in larger.evidence

    def worse(unit, machines):
        better(unit, machines)
        if unit.arguments["criterion"] == "HM" and unit.arguments["setting"]["dataset"] == HEART.dataset:
            machines["free"]["value"] = 0.1

    (changed,) = [c for c in judge(summaries_of(2, worse)) if c.sentence == larger.sentence]
    assert changed.verdict == "not reproduced"
    assert "worse in 1" in changed.evidence


def test_a_stand_in_never_reproduces_a_claim():
    claims = judge(summaries_of(2, better))
    on_stand_ins = [claim for claim in claims if claim.evidence.startswith(("Figure 1", "Figure 2"))]
    assert len(on_stand_ins) == 3
    assert {claim.verdict for claim in on_stand_ins} == {"cannot be tested"}


# --- real data ---------------------------------------------------------------------------------------------


def test_a_split_of_heart_obeys_the_laws_and_comes_near_the_published_values(shared_data, tmp_path):
    table = STUDY.table("1")
    heart = replace(
        table,
        units=lambda splits: [
            u for u in table.units(splits) if u.key.startswith("heart") and "tuned" not in u.key
        ],
    )
    summary = run_table(replace(STUDY, title=""), heart, folder=tmp_path, splits=1)
    assert (tmp_path / "table1.md").read_text(encoding="utf-8").count("\n| SM1 |") == 5
    found = {(row["labels"]["criterion"], row["labels"]["kernel"]): row["values"] for row in summary["rows"]}
    value = {key: values["value"]["mean"] for key, values in found.items()}
    free, nonnegative = COLUMNS["free"], COLUMNS["nonnegative"]
    for criterion in ("SM1", "SM2", "SM2,C"):
        singles = min(value[criterion, COLUMNS[column]] for column in ("K1", "K2", "K3"))
        assert value[criterion, free] <= value[criterion, nonnegative] + 1e-6 <= singles + 2e-6
    assert value["HM", free] >= value["HM", nonnegative] - 1e-8 >= value["HM", COLUMNS["K2"]] - 2e-8
    assert value["HM", COLUMNS["K3"]] is None  # heart is not linearly separable
    for column in ("free", "nonnegative"):
        assert value["SM2,C", COLUMNS[column]] <= value["SM2", COLUMNS[column]] + 1e-6
    for (criterion, kernel), values in found.items():
        if kernel in (COLUMNS["K2"], free, nonnegative):
            assert values["value"]["mean"] == pytest.approx(values["value"]["published"], rel=0.15), criterion
