"""Which table of a patient matters?
=================================

Three tables of made-up patients, each from another laboratory: expression of genes, methylation of sites, and
what the clinic wrote down (numbers, categories and gaps). Their rows are in different orders, and not every
patient is in every table. ``join_views`` aligns them by the ids of the patients, and a model learns a weight
for each table. The outcome depends on two genes together and on the stage of the disease, and not on
methylation: the genes have the largest weight, but methylation has some too, because sites tell the training
patients apart. What a table is worth, the accuracy of each alone says. Patients that lack a table are kept by
the outer join; as less is known of them, they are harder to predict. The script prints the weights, and the
accuracy in cross-validation with and without these patients and of each table alone.

Run it with ``python examples/which_table_of_a_patient_matters.py [--patients N] [--picture FILE]``.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, cross_val_score

from multikernel import Gaussian, KernelBank, MKLClassifier, join_views, viz
from multikernel.kernels import Mixed

KERNELS = {"mrna": Gaussian(), "methylation": Gaussian(), "clinic": Mixed()}


def make_patients(n: int, seed: int = 0) -> tuple[dict[str, pd.DataFrame], pd.Series]:
    """Tables with rows in different orders, each without some of the patients; and the outcomes of all."""
    rng = np.random.default_rng(seed)
    ids = pd.Index([f"patient-{k:03}" for k in range(n)], name="patient")
    mrna = pd.DataFrame(rng.normal(size=(n, 4)), ids, [f"gene{k}" for k in range(4)])
    methylation = pd.DataFrame(rng.uniform(size=(n, 6)), ids, [f"site{k}" for k in range(6)])
    clinic = pd.DataFrame({"age": rng.normal(60, 9, size=n), "stage": rng.choice(["i", "ii", "iii"], n)}, ids)
    score = mrna["gene0"] * mrna["gene1"] + 1.2 * (clinic["stage"] == "iii") - 0.4
    outcome = pd.Series(np.where(score + 0.3 * rng.normal(size=n) > 0, "relapse", "well"), ids)
    clinic.loc[rng.random(n) < 0.1, "age"] = np.nan  # the clinic forgot to ask
    tables = {"mrna": mrna, "methylation": methylation, "clinic": clinic}
    shares = {"mrna": 0.8, "methylation": 0.7, "clinic": 0.95}
    kept = {name: table.sample(frac=shares[name], random_state=rng) for name, table in tables.items()}
    return kept, outcome[in_some_table(outcome, kept)]


def in_some_table(outcome: pd.Series, tables: dict[str, pd.DataFrame]) -> np.ndarray:
    """Whether some table has the patient: a target without data cannot be joined."""
    return outcome.index.isin(np.concatenate([table.index for table in tables.values()]))


def accuracy(
    model: MKLClassifier, tables: dict[str, pd.DataFrame], outcome: pd.Series, how: str
) -> tuple[int, float]:
    """Number of patients after a join, and the mean accuracy over five folds."""
    X, target = join_views(tables, outcome[in_some_table(outcome, tables)], how=how)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return len(X), float(cross_val_score(model, X, target, cv=folds).mean())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--patients", type=int, default=200)
    parser.add_argument("--picture", type=Path, default=Path("run/tables_of_patients.png"))
    given = parser.parse_args(arguments)
    tables, outcome = make_patients(given.patients)

    X, y = join_views(tables, outcome, how="outer")
    print(X)
    model = MKLClassifier(KernelBank(KERNELS, missing="renormalize"), C=3).fit(X, y)
    print("\nLearned weights, all patients:")
    print(model.weights_frame()[["weight"]].round(2).to_string())

    print("\nAccuracy over five folds:")
    rows = {
        "patients in all tables": (MKLClassifier(KERNELS, C=3), tables, "inner"),
        "patients in some table": (model, tables, "outer"),
    }
    for name, kernel in KERNELS.items():
        rows[f"{name} alone"] = (MKLClassifier({name: kernel}, C=3), {name: tables[name]}, "inner")
    for name, (contender, read, how) in rows.items():
        n, mean = accuracy(contender, read, outcome, how)
        print(f"  {name:24} {n:4} patients  {mean:.2f}")

    figure, ax = plt.subplots(figsize=(6, 2.5), layout="constrained")
    viz.weights(model, ax=ax)
    given.picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(given.picture, dpi=110)
    plt.close(figure)
    print(f"\nThe picture is in {given.picture}.")


if __name__ == "__main__":
    main()
