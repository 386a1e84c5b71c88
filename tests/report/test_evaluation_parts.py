"""The parts of an evaluation on the page and in Markdown: each where its data is there, and only there."""

import json
import re

import pytest

from multikernel.report import render_html, render_markdown, summarize
from multikernel.report.words import PART_NAMES, findings, format_cell
from tests.report.conftest import ToyClassifier
from tests.report.evaluations import VIEWS, evaluation
from tests.report.test_render import Page

HOSTILE = ["</script><script>alert(1)</script>", '"onload="alert(1)', "x" * 400, "\u202eצליל", "🦊", ""]


FINDING = {"level": "warning", "subject": "view 'sound'", "what": "It is doubled.", "remedy": "Leave it out."}
DOCTOR = {"headline": "30 rows: one warning", "findings": [FINDING]}


def report(task="classification", views=VIEWS, doctor=None, **options):
    model = ToyClassifier(list(views), [0.5, 0.25] + [0.125] * (len(views) - 2))
    return summarize(model, evaluation=evaluation(task, views=views, **options), doctor=doctor)


def headings(page):
    return re.findall(r'<h2 id="[\w-]+">(.*?)</h2>', page)


def test_every_part_has_its_section_in_order_and_in_the_contents():
    page = render_html(report(gate=True, doctor=DOCTOR))
    assert headings(page) == [
        "Data check",
        "Weight of each view",
        "Which views matter?",
        "Which sets carry weight beyond chance?",
        "Against baselines",
        "Held out",
        "Independent cohort",
        "Training beside held-out scores",
        "Learning curve",
        "Why these predictions?",
        "Which columns move together?",
        "Kernels",
        "Samples in two dimensions",
        "Weights of each sample",
        "Model",
    ]
    contents = page[page.index("<nav") : page.index("</nav>")]
    assert re.findall(r'<a href="#[\w-]+">(.*?)</a>', contents) == headings(page)
    identifiers = [attributes["id"] for _, attributes in Page(page).tags if "id" in attributes]
    assert len(set(identifiers)) == len(identifiers)
    assert set(re.findall(r'href="#([\w-]+)"', page)) <= set(identifiers)


def test_what_the_parts_say():
    text = Page(render_html(report(gate=True))).text
    assert "3 of 3 views are used. Learning the weights helped against the best single view." in text
    assert "sound 54.0% 54.0% ±2.8% 50.0% to 58.0% 100%" in text
    assert "image +0.0100 0.8900 ±0.0200 0.210" in text
    assert "best single view 0.8500 ±0.0120 +0.0500 0.004 better" in text
    assert "tuned RBF SVM 0.9300 ±0.0120 −0.0300 <0.001 worse" in text
    assert "learned 0.9000 ±0.0120 – – –" in text
    assert "dog 1 9 1" in text
    assert "Brier score 0.08" in text
    assert "All 30 samples, by kernel PCA of the learned kernel." in text
    assert "component 1 (42% of the variance)" in text


def test_what_newer_evaluations_tell_is_shown():
    made = evaluation()
    for row in made["without_view"]["rows"] + made["baselines"]["rows"]:
        row["difference_sd"] = 0.013
    made["held_out"] |= {"score": 0.95, "majority": 0.4, "balanced_accuracy": 0.88}
    made["baselines"]["protocol"] = "Ten refits, each from half of the samples"
    made["notes"] += [
        f"1 of 10 refits of {name!r} gave a warning, the worst: slow."
        for name in ("plain sum", "without text")
    ]
    summary = summarize(ToyClassifier(VIEWS, [0.5, 0.25, 0.25]), evaluation=made)
    page, markdown = Page(render_html(summary)).text, render_markdown(summary)
    assert "image +0.0100 ±0.0130 0.8900 ±0.0200 0.210" in page
    assert "learned 0.9000 ±0.0120 – – – –" in page
    assert "plain sum † 0.8900 ±0.0120 +0.0100 ±0.0130 0.400 not shown" in page
    assert "text † −0.0300" in page and "sound †" not in page
    assert "± standard deviation of the loss over the folds" in page
    assert "Always the most frequent class 0.4000 Balanced accuracy 0.8800" in page
    assert "The comparisons give the same model 0.9000: there, each refit learns from half" in page
    assert "Warnings of refits 1 of 10 refits of 'plain sum'" in page
    assert "## Warnings of refits\n\n- 1 of 10" in markdown and "Balanced accuracy: 0.8800." in markdown


def test_the_worst_misses_have_their_rows():
    made = evaluation("regression")
    made["held_out"]["residuals"]["worst"] = [{"row": 4711, "observed": 9.0, "predicted": 2.0}]
    page = Page(render_html(summarize(ToyClassifier(VIEWS, [0.5, 0.25, 0.25]), evaluation=made))).text
    assert "4711 9.0000 2.0000 +7.0000" in page


def test_tables_follow_their_figures_and_marks_their_rows():
    made = evaluation()
    for part in ("stability", "without_view"):
        made[part]["rows"].reverse()
    made["notes"].append("1 of 10 refits of 'without image' gave a warning, the worst: slow.")
    text = Page(render_html(summarize(ToyClassifier(VIEWS, [0.5, 0.25, 0.25]), evaluation=made))).text
    shares = text[text.index("Share of the weight of each view") :]
    effects = text[text.index("The effect of a view") :]
    for table in (shares, effects):
        assert table.index("sound") < table.index("image") < table.index("text")
    assert "image † +0.0100" in effects and "sound †" not in effects


def test_the_part_of_each_class_that_was_found_is_told():
    summary = report()
    labels, counts = (evaluation()["held_out"]["confusion"][key] for key in ("labels", "counts"))
    for i, (label, row) in enumerate(zip(labels, counts, strict=True)):
        share = f"Predicted rightly of {label} {row[i] / sum(row):.4f} ({row[i]} of {sum(row)})"
        assert share in Page(render_html(summary)).text
    many = report(classes=[f"class {k}" for k in range(6)])
    assert "Predicted rightly" not in render_html(many)


def test_a_figure_is_not_told_twice():
    made = evaluation()
    made["held_out"] |= {"metric": "balanced accuracy", "balanced_accuracy": 0.88, "score": 0.875}
    page = Page(render_html(summarize(ToyClassifier(VIEWS, [0.5, 0.25, 0.25]), evaluation=made))).text
    assert (
        "Balanced accuracy 0.8750" in page and "0.8800 " not in page[page.index("Held out Balanced") :][:400]
    )


def test_a_report_without_rivals_says_how_good_the_model_is():
    made = evaluation() | {"baselines": None, "cohort": None}
    summary = summarize(ToyClassifier(VIEWS, [0.5, 0.25, 0.25]), evaluation=made)
    assert f"Held out, its accuracy is {made['held_out']['score']:.4f}." in findings(summary)


def test_negative_figures_have_one_kind_of_sign():
    assert format_cell(-0.25) == "−0.2500" and format_cell(-2.5e-7) == "−2.500e-07"


def test_a_regression_shows_residuals_and_no_classes():
    page = Page(render_html(report("regression")))
    assert "Root mean squared error 0.3500" in page.text
    assert "The 10 largest misses of 40 samples." in page.text
    assert "0 to 1.5 7 " in page.text and "5.5 to 7.25 8 " in page.text
    assert "Confusion" not in page.text and "ROC" not in page.text


def test_parts_that_are_missing_are_not_shown_and_reasons_are():
    made = evaluation("unsupervised")
    made |= {"stability": None, "heat_maps": None, "embedding": None}
    summary = summarize(ToyClassifier(VIEWS, [0.5, 0.25, 0.25]), evaluation=made)
    page = render_html(summary)
    assert headings(page) == ["Weight of each view", "Left out", "Model"]
    assert "<svg" not in page and "<nav" not in page
    assert "Weights of each sample</dt><dd>The model weighs all samples alike." in page
    assert "Folds are drawn with seed 0." in page
    assert "- Weights of each sample: The model weighs all samples alike." in render_markdown(summary)


def test_markdown_has_the_tables():
    lines = render_markdown(report(gate=True, n=60, doctor=DOCTOR)).splitlines()
    for row in (
        "| sound | 54.0% | 54.0% | ±2.8% | 50.0% to 58.0% | 100% |",
        "| image | +0.0100 | 0.8900 | ±0.0200 | 0.210 |",
        "| plain sum | 0.8900 | ±0.0120 | +0.0100 | 0.400 | not shown |",
        "| dog | 1 | 9 | 1 |",
        "| Accuracy | 0.8800 | 0.8000 to 0.9400 | 0.9000 | ±0.0200 |",
        "| Accuracy | 0.9700 | 0.9000 | +0.0700 |",
        "| 20 | 0.9800 | 0.8500 | ±0.0300 |",
        "| dog | 0.9300 |",
        "| learned kernel | 2.0000 | 0.5000 | 0.0000 | 2.0000 |",
        "The first 50 of 60 samples.",
    ):
        assert row in lines
    parts = [name for part, name in PART_NAMES.items() if part != "data"]  # that of one table says nothing
    assert [line[3:] for line in lines if line.startswith("## ")] == ["Data check", "Weights", *parts]


def test_parts_on_demand_and_findings_are_shown():
    text = Page(render_html(report(gate=True, doctor=DOCTOR))).text
    assert "Data check 30 rows: one warning. Warning view 'sound' : It is doubled. Leave it out." in text
    assert "image 0.4000 0.020 0.100 no" in text  # a view that is not selected
    assert "sound 0.6000 0.2000 2.50 0.010 0.040 yes" in text  # a set beyond chance
    assert "text 0.2000 0.2000 −1.50 0.030 0.120 no" in text
    assert "column 0 sound column 1 image +0.2500" in text
    assert "row 0 0.5000 0.2500 0.1667" in text  # a gate
    assert "0 cat fox 2.0000 +0.5000 −0.5000 −1.5000" in text  # contributions
    assert "Left out" not in text
    lines = render_markdown(report(gate=True, doctor=DOCTOR)).splitlines()
    assert "- warning: view 'sound': It is doubled. Leave it out." in lines
    assert "| sound | 0.6000 | 0.2000 | 2.50 | 0.010 | 0.040 | yes |" in lines


def test_what_was_not_asked_for_is_named_with_its_call():
    model = ToyClassifier(VIEWS, [0.5, 0.25, 0.25])
    text = Page(render_html(summarize(model, evaluation=evaluation()))).text
    for part in ("selection", "enrichment", "cross_view"):
        assert f"evaluate(model, X, y, parts='{part}')" in text
    assert "summarize(model, doctor=diagnose(X, y, kernels))" in text
    assert "600 refits" in text and "parts='learning_curve'" not in text  # that is there
    alone = render_markdown(summarize(model))
    assert "evaluation=evaluate(model, X, y)" in alone and "--data FILE" in alone


def test_many_findings_are_cut_and_others_are_refused():
    findings = [{**FINDING, "subject": f"column {k}"} for k in range(60)]
    made = report(doctor={"headline": "x", "findings": findings, "columns": ["a"]})["doctor"]
    assert len(made["findings"]) == 50 and made["n_findings"] == 60 and made["ok"]
    assert "10 more findings are not shown" in render_html(
        report(doctor={"headline": "x", "findings": findings})
    )
    with pytest.raises(ValueError, match=r"doctor must be what multikernel\.doctor\.diagnose"):
        report(doctor=["bad"])


def test_what_the_most_wrong_samples_owe_it_to():
    made = evaluation()
    first, second = made["why"]["rows"][:2]
    first["steps"] |= {
        "machine": "cat",
        "rows": [{"name": "sound", "value": 2.0}, {"name": "image", "value": -1.0}],
    }
    second["steps"]["rows"] = [{"name": "sound", "value": -2.0}, {"name": "image", "value": -1.0}]
    lines = render_markdown(summarize(ToyClassifier(VIEWS, [0.5, 0.25, 0.25]), evaluation=made)).splitlines()
    # the machine of two classes is that of the other class: what lowers its score speaks for the prediction
    assert "| 0 | cat | fox | 2.0000 | image −1.0000 | 7 |" in lines
    assert "| 1 | dog | fox | 1.7500 | intercept | 8 |" in lines


def test_the_summary_holds_a_plain_copy():
    made = evaluation()
    made["held_out"]["score"] = float("nan")
    summary = summarize(ToyClassifier(VIEWS, [0.5, 0.25, 0.25]), evaluation=made)
    assert summary["evaluation"]["held_out"]["score"] is None
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    summary["evaluation"]["views"].clear()
    assert made["views"] == VIEWS
    with pytest.raises(ValueError, match=r"evaluation must be a dictionary .* got list"):
        summarize(ToyClassifier(VIEWS, [0.5, 0.25, 0.25]), evaluation=[])


def test_hostile_names_are_text_everywhere():
    summary = report(views=HOSTILE, classes=HOSTILE, n=600, gate=True)
    for row in summary["evaluation"]["baselines"]["rows"] + summary["evaluation"]["omitted"]:
        row |= {key: HOSTILE[0] for key in row if isinstance(row[key], str) and key != "verdict"}
    text = render_html(summary)
    page = Page(text)
    scripts = page.all("script")
    data = [{"type": "application/json", "id": name} for name in ("gate-shades", "gate-table-data")]
    assert scripts == [*data, {}]
    assert "alert(1)</script>" not in text
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    data = re.search(r'id="gate-table-data">(.*?)</script>', text, re.DOTALL)[1]
    assert [row[1] for row in json.loads(data)[:6]] == [*HOSTILE[:5], ""]
    assert "<script" not in render_markdown(summary)


def test_large_reports_stay_small():
    views = [f"view {m}" for m in range(10)]
    summary = report(views=views, n=400, gate=True)
    for kernel in summary["evaluation"]["heat_maps"]["maps"]:
        kernel["values"] = [[(37 * i * j % 101) / 100 for j in range(60)] for i in range(60)]
    assert len(render_html(summary).encode()) < 1_000_000


def test_long_tables_are_cut_and_handed_to_the_script():
    page = render_html(report(n=700, gate=True))
    table = page[page.index('<table id="gate-table"') :]
    assert table[: table.index("</table>")].count("<tr>") == 501
    assert len(json.loads(re.search(r'id="gate-table-data">(.*?)</script>', page)[1])) == 700


def luminance(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(ink, ground):
    dark, light = sorted([luminance(ink), luminance(ground)])
    return (light + 0.05) / (dark + 0.05)


def mixed(ink, ground, part):
    pairs = [(int(ink[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(part * a + (1 - part) * b):02x}" for a, b in pairs)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_pictures_and_shaded_cells_have_contrast(theme):
    page = render_html(summarize(ToyClassifier(["a"], [1.0])))
    found = dict(re.findall(r"--(\w+): (#\w{6})", re.findall(r":root \{([^}]*)\}", page)[theme]))
    least = dict.fromkeys([*(f"c{i}" for i in range(6)), "good"], 3.0)
    least |= dict.fromkeys(["text", "quiet", "bar", "warn"], 4.5)  # of WCAG AA
    for name, needed in least.items():
        assert contrast(found[name], found["page"]) >= needed, name
    # the strongest shade of a confusion matrix, as in the style sheet
    assert "calc(var(--part) * .35)" in page
    assert contrast(found["text"], mixed(found["bar"], found["page"], 0.35)) >= 4.5


def test_tables_are_labelled():
    page = render_html(report(gate=True))
    tables = re.findall(r"<table.*?</table>", page, re.DOTALL)
    assert len(tables) == 23
    assert all("<caption>" in table for table in tables)
    assert all("scope" in cell for cell in Page(page).all("th"))
    pictures = [svg for svg in Page(page).all("svg") if svg.get("role") == "img"]
    assert len(pictures) == 16 + 4  # of which one for each kernel
    assert all("aria-labelledby" in svg for svg in pictures)
