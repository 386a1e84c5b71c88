"""What tells the subtype of a tumour?
===================================

Breast tumours of three subtypes (Basal, Her2, LumA) with three tables: expression of genes, of microRNAs,
and proteins (TCGA). A model with one linear kernel for each table is explained, from tables down to single
tumours:

- which tables matter, by permutation tests with a stated false discovery rate, and what each is worth beside
  the others, by Shapley values of held-out accuracy;
- which subtype looks at which table;
- which columns of each table the model owes its score to, and whether other folds agree;
- which columns of different tables go along with each other;
- which tumours the model is most wrong about, and how the score of the worst comes about;
- what the model is worth on an independent cohort that lacks the table of proteins, beside a model that never
  had it.

The text that is printed says of each finding how sure it is. Tests with all samples say whether there is
something; folds say how much of it a model of these samples finds in others.

The data set "tcga_breast" is needed, see ``multikernel data list``; without it the script says so and ends.
Run it with ``python examples/what_tells_the_subtype_of_a_tumour.py [--picture FILE]``.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from multikernel import KernelBank, MKLClassifier, evaluate, viz
from multikernel.datasets import list_datasets, load_dataset
from multikernel.inspection import cross_view_map, explain, feature_importance, select_views, view_shapley
from multikernel.kernels import Linear

NAME, TABLES, OF_COHORT = "tcga_breast", ("mrna", "mirna", "protein"), ("mrna", "mirna")
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def load(cohort: bool = False) -> tuple[dict[str, pd.DataFrame], pd.Series]:
    """The tables by name, a row for each tumour, and the subtypes; of the cohort there are no proteins."""
    arrays = load_dataset(NAME).arrays
    given, names, labels = ("test", OF_COHORT, "y_test") if cohort else ("view", TABLES, "y")
    kind = "tumour of the cohort" if cohort else "tumour"
    ids = pd.Index([f"{kind} {k}" for k in range(len(arrays[labels]))], name="tumour")
    tables = {
        name: pd.DataFrame(arrays[f"{given}_{name}"], ids, arrays[f"names_{name}"].tolist()) for name in names
    }
    return tables, pd.Series(arrays["class_names"][arrays[labels]], ids)


def judge_on_cohort(names: Sequence[str], tables: dict[str, pd.DataFrame], subtype: pd.Series) -> None:
    """Print what a model of some tables is worth on the cohort: absent tables are left out of the sum."""
    bank = KernelBank({name: Linear() for name in names}, missing="renormalize")
    part = {name: tables[name] for name in names}
    model = MKLClassifier(bank, norm=2).fit(part, subtype)
    later, of_later = load(cohort=True)
    parts, scoring = ["held_out", "overfitting"], ["accuracy", "balanced_accuracy"]
    judged = evaluate(
        model, part, subtype, X_test=later, y_test=of_later, parts=parts, scoring=scoring, cv=FOLDS
    )
    print(f"  learned with {', '.join(names)}: {judged}")
    print(judged.to_frame("cohort").round(3).to_string())
    print(f"  {judged['overfitting']['answer']}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--picture", type=Path, default=Path("run/subtype_of_a_tumour.png"))
    given = parser.parse_args(arguments)
    if NAME not in list_datasets().index:
        print(f"The data set {NAME!r} is not at hand: set MULTIKERNEL_DATA to the folder that has it.")
        return
    tables, subtype = load()
    model = MKLClassifier({name: Linear() for name in TABLES}, norm=2).fit(tables, subtype)

    print("Which tables matter?")
    for method in ("marginal", "conditional"):
        print(f"  {method}: {select_views(model, tables, subtype, method=method, random_state=0).answer}")
    worth = view_shapley(model, tables, subtype, method="refit", cv=FOLDS)
    print(f"  {worth.answer}")
    print(worth.to_frame()[["shapley", "std", "alone", "beside_others"]].round(3).to_string())

    print("\nWhich columns?")
    columns = feature_importance(model, tables, subtype, cv=FOLDS, n_top=10)
    print(f"  {columns.answer}")
    shown = ["view", "feature", "importance", "low", "high", "in_top"]
    print(columns.top_features(4)[shown].round(4).to_string(index=False))
    print(f"  {cross_view_map(model, tables).answer}")

    print("\nWhich tumours is a model that has not seen them wrong about?")
    parts = []
    for train, test in FOLDS.split(subtype, subtype):
        part = [{name: table.iloc[rows] for name, table in tables.items()} for rows in (train, test)]
        fold = MKLClassifier(model.kernels, norm=2).fit(part[0], subtype.iloc[train])
        training = {"X_train": part[0], "y_train": subtype.iloc[train]}
        parts.append(explain(fold, part[1], subtype.iloc[test], **training))
    wrong = pd.concat([part.worst(len(subtype)) for part in parts])
    worst = wrong.sort_values("error", ascending=False).head(10)
    print(f"  {len(wrong)} of {len(subtype)}, each judged by a model of the other four folds. The worst:")
    print(worst[["target", "prediction", "error", "certain"]].round(2).to_string())
    told = "is" if worst["certain"].iloc[0] else "is not"
    print(
        f"  'certain' says whether the optimum of the problem would decide the same, by the duality gap: for "
        f"{worst.index[0]} it {told}. It does not say that the prediction is right."
    )

    print("\nWhat is it worth on another cohort, without the proteins?")
    judge_on_cohort(TABLES, tables, subtype)
    judge_on_cohort(OF_COHORT, tables, subtype)

    figure, axes = plt.subplots(2, 2, figsize=(14, 10), layout="constrained")
    worth.plot(axes[0, 0])
    viz.class_weights(model, ax=axes[0, 1])
    columns.plot(axes[1, 0], most=6)
    of_worst = next(part for part in parts if worst.index[0] in part.table.index)
    of_worst.plot(worst.index[0], axes[1, 1], by="features", most=10)
    given.picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(given.picture, dpi=110)
    plt.close(figure)
    print(f"\nThe picture is in {given.picture}.")


if __name__ == "__main__":
    main()
