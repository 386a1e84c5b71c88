"""Evaluations as reports read them, made by hand: every part is there, and figures are easy to check."""

import math

CLASSES = ["cat", "dog", "fox"]
VIEWS = ["sound", "image", "text"]


def evaluation(task="classification", *, views=VIEWS, classes=CLASSES, n=30, gate=False):
    """Return an evaluation of `n` samples."""
    classes = list(classes) if task == "classification" else []
    made = {
        "task": task,
        "n_samples": n,
        "views": list(views),
        "classes": classes,
        "stability": stability(views),
        "without_view": None,
        "baselines": None,
        "held_out": None,
        "heat_maps": heat_maps(views, classes or ["all"]),
        "embedding": {"method": "kernel PCA of the learned kernel", "explained": [0.42, 0.13], "points": []},
        "gate": None,
        "why": None,
        "omitted": [{"part": "gate", "why": "The model weighs all samples alike."}],
        "notes": ["Folds are drawn with seed 0."],
    }
    samples = [sample(i, task, classes) for i in range(n)]
    made["embedding"]["points"] = [
        {**row, "x": math.cos(i) + i % 3, "y": math.sin(2 * i)} for i, row in enumerate(samples[:400])
    ]
    if task != "unsupervised":
        made |= {"without_view": without_view(views), "baselines": baselines(task)}
        made["held_out"] = held_out(task, classes)
        made |= on_other_samples(made["baselines"]["metric"])
        made["why"] = why(views, samples, classes)
    made |= dict.fromkeys(("selection", "enrichment", "cross_view"))
    if gate and task != "unsupervised":
        made |= on_demand(views)
    if gate:
        rows = [{**row, "weights": gate_weights(i, len(views))} for i, row in enumerate(samples)]
        made |= {
            "gate": {"what": "The gate of each sample", "views": list(views), "rows": rows},
            "omitted": [],
        }
    return made


def sample(i, task, classes):
    if task == "classification":
        label, predicted = (classes[k % len(classes)] for k in (i, i + (i % 10 == 9)))
        return {"row": i, "label": label, "predicted": predicted}
    return {"row": i, "value": i / 4, "predicted": i / 4 + 0.5} if task == "regression" else {"row": i}


def gate_weights(i, n_views):
    raw = [math.exp(2 * math.sin(i * (m + 1))) for m in range(n_views)]
    return [weight / sum(raw) for weight in raw]


def stability(views):
    rows = []
    for m, view in enumerate(views):
        values = [max(0.0, 0.5 - 0.25 * m) + 0.02 * fold for fold in range(5)]
        row = {"view": view, "share": values[2], "mean": values[2], "sd": 0.0283, "values": values}
        used = 0.8 if values[0] == 0 else 1.0
        rows.append(row | {"low": values[0], "high": values[-1], "used": used})
    return {"protocol": "5 fits on folds of 80% of the samples", "rows": rows}


def without_view(views):
    rows = [
        {"view": view, "score": 0.85 + 0.04 * m, "sd": 0.02, "effect": 0.05 - 0.04 * m, "p": 0.01 + 0.2 * m}
        for m, view in enumerate(views)
    ]
    made = {"protocol": "Ten folds, by the F test.", "metric": "accuracy", "score": 0.9, "sd": 0.01}
    return made | {"rows": rows}


def baselines(task):
    metric = "accuracy" if task == "classification" else "R²"
    rows = [
        ("learned", "The model of this report.", 0.9, 0.0, None, None),
        ("best single view", "The view that scores best alone.", 0.85, 0.05, 0.004, "better"),
        ("plain sum", "All views with one weight.", 0.89, 0.01, 0.4, "tie"),
        ("tuned RBF SVM", "One Gaussian kernel on all columns.", 0.93, -0.03, 0.0002, "worse"),
    ]
    keys = ("name", "what", "score", "difference", "p", "verdict")
    return {
        "protocol": "Ten folds, by the F test.",
        "metric": metric,
        "rows": [dict(zip(keys, row, strict=True)) | {"sd": 0.012} for row in rows],
        "answer": "Learning the weights helped against the best single view.",
    }


def held_out(task, classes):
    made = {"protocol": "5-fold cross-validation", "metric": "accuracy", "score": 0.9}
    made |= {"confusion": None, "roc": None, "calibration": None, "residuals": None}
    if task == "regression":
        points = [{"observed": i / 4, "predicted": i / 4 + math.sin(i) / 2} for i in range(40)]
        residuals = {"rmse": 0.35, "mae": 0.31, "r2": 0.98, "points": points}
        return made | {"metric": "R²", "score": 0.98, "residuals": residuals}
    size = range(len(classes))
    made["confusion"] = {"labels": classes, "counts": [[9 if i == j else i for j in size] for i in size]}
    curve = {"false_positive": [0.0, 0.1, 0.3, 1.0], "true_positive": [0.0, 0.7, 0.9, 1.0]}
    made["roc"] = {
        "curves": [{"label": label, "auc": 0.95 - 0.02 * i, **curve} for i, label in enumerate(classes)]
    }
    bins = [{"predicted": 0.1 + 0.2 * i, "observed": 0.05 + 0.22 * i, "n": 4 + i} for i in range(5)]
    made["calibration"] = {"how": "Probability of the class predicted", "brier": 0.08, "bins": bins}
    return made


def on_other_samples(metric):
    """An independent cohort, training beside held-out scores, a learning curve."""
    scores = {"metric": metric, "score": 0.9, "sd": 0.02}
    sizes = [(10, 0.99, 0.8), (20, 0.98, 0.85), (24, 0.97, 0.9)]
    rows = [
        {"n_train": n, "metric": metric, "train": train, "train_sd": 0.01, "score": score, "sd": 0.03}
        for n, train, score in sizes
    ]
    cohort = {"metric": metric, "score": 0.88, "low": 0.8, "high": 0.94, "held_out": 0.9, "held_out_sd": 0.02}
    return {
        "cohort": {
            "n_samples": 70,
            "protocol": "The fitted model on 70 samples.",
            "rows": [cohort],
            "answer": f"On 70 samples of an independent cohort, {metric} is 0.880.",
        },
        "overfitting": {
            "protocol": "5 folds.",
            "rows": [{**scores, "train": 0.97, "gap": 0.07}],
            "support": {"share": 0.4, "mean": 0.45},
            "answer": "40% of the training samples are support samples.",
        },
        "learning_curve": {
            "protocol": "5 folds.",
            "metric": metric,
            "rows": rows,
            "answer": f"Held-out {metric} is 0.900 with 24.",
        },
    }


def why(views, samples, classes):
    """The most wrong samples, Shapley values and columns."""
    rows = []
    for i, sample in enumerate(samples[:4]):
        key = "label" if classes else "value"
        observed, predicted = sample[key], classes[-1] if classes else sample["predicted"]
        steps = [{"name": view, "value": (0.5 - m) / (i + 1)} for m, view in enumerate(views)]
        score = 0.25 + sum(step["value"] for step in steps)
        told = {"id": f"row {sample['row']}", "machine": classes[-1] if classes else "the prediction"}
        told |= {"start": 0.25, "score": score, "start_name": "intercept", "rows": steps}
        told |= {"low": score - 0.1, "high": score + 0.1}
        row = {"row": sample["row"], "id": None, "observed": observed, "predicted": predicted}
        row |= {"error": 2.0 - i / 4, "steps": told, "nearest": str(i + 7), "similarity": 0.5}
        rows.append(row)
    values = [
        {
            "view": view,
            "shapley": 0.2 - 0.1 * m,
            "std_error": 0.0,
            "std": None,
            "alone": 0.3,
            "beside_others": 0.0,
        }
        for m, view in enumerate(views)
    ]
    columns = [
        {"view": view, "feature": f"column {k}", "importance": 0.5 / (k + m + 1), "slope": 0.1}
        for m, view in enumerate(views[:3])
        for k in range(2)
    ]
    for row in rows[:2]:
        row["steps"]["gates"] = [{"name": view, "value": 0.5 / (m + 1)} for m, view in enumerate(views)]
    metric = "accuracy" if classes else "R²"
    added = [
        {
            **{key: row[key] for key in ("row", "id", "observed", "predicted")},
            "score": 2.0 - i,
            "values": [(0.5 - m) / (i + 1) for m in range(len(views))],
        }
        for i, row in enumerate(rows)
    ]
    return {
        "on": "cohort",
        "n_samples": 70,
        "protocol": "The fitted model on the 70 samples of the independent cohort.",
        "answer": "4 of 70 samples are predicted wrongly.",
        "worst": {
            "n_wrong": 4,
            "waterfalls": [row["steps"] for row in rows[:2]],
            "answer": "4 of 70 samples are predicted wrongly.",
        },
        "rows": rows,
        "contributions": {
            "views": list(views),
            "machine": "the class predicted" if classes else "the prediction",
            "rows": added,
            "answer": f"{views[0]} tells the {len(rows)} samples apart most.",
        },
        "shapley": {
            "method": "functions",
            "metric": metric,
            "score": 0.9,
            "score_without": 0.6,
            "n_permutations": None,
            "answer": f"All views together raise {metric} by 0.300.",
            "rows": values,
        },
        "columns": {
            "method": "sensitivity",
            "xlabel": "change of the score",
            "rows": columns,
            "n_features": 20,
            "n_views": len(views),
            "answer": "A step along column 0 moves the score most.",
        },
    }


def on_demand(views):
    """Selected views, sets that carry weight, and the map of columns."""
    tested = [
        {"view": view, "alignment": 0.5 - 0.1 * m, "p_value": 0.01 * (m + 1), "q_value": 0.05 * (m + 1)}
        | {"selected": m == 0}
        for m, view in enumerate(views)
    ]
    selection = {"method": "marginal", "level": 0.1, "threshold": None, "null": "independence"}
    sets = [
        {"set": view, "share": 0.6 / (m + 1), "by_chance": 0.2, "z": 2.5 - 2 * m, "p_value": 0.01 * (m + 1)}
        | {"p_adjusted": 0.04 * (m + 1), "enriched": m == 0}
        for m, view in enumerate(views)
    ]
    dots = [
        {"set": view, "value": value, "share": 0.5 / (m + 1), "p_value": 0.05}
        for m, view in enumerate(views)
        for value in (0.1, 1.0)
    ]
    names = [{"view": view, "feature": f"column {m}"} for m, view in enumerate(views[:4])]
    n = len(names)
    similar = [[1.0 if i == j else 0.5 - 0.25 * abs(i - j) for j in range(n)] for i in range(n)]
    pair = {"view": views[0], "feature": "column 0", "other_view": views[1], "other_feature": "column 1"}
    return {
        "selection": selection
        | {"guarantee": "At most 10% are false.", "answer": "One view is selected.", "rows": tested},
        "enrichment": {
            "parameter": "C",
            "values": [0.1, 1.0],
            "level": 0.05,
            "correction": "max",
            "n_permutations": 200,
            "answer": "One set carries weight beyond chance.",
            "rows": sets,
            "dots": dots,
        },
        "cross_view": {
            "features": names,
            "similarities": similar,
            "shares": [0.25, 0.125],
            "answer": "Columns 0 and 1 move together.",
            "pairs": [{**pair, "similarity": 0.25}],
        },
    }


def heat_maps(views, labels, k=12):
    groups = [{"label": label, "start": 10 * i, "stop": 10 * (i + 1)} for i, label in enumerate(labels)]
    block = k / len(labels)
    values = [[1.0 if i // block == j // block else 0.25 for j in range(k)] for i in range(k)]
    shares = {"learned kernel": None} | dict.fromkeys(views, 0.5)
    maps = [
        {"name": name, "share": share, "low": 0.0, "high": 2.0, "values": values}
        for name, share in shares.items()
    ]
    return {"order": "by class", "groups": groups, "maps": maps}
