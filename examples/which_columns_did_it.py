"""Which columns did it?
=====================

Three tables of made-up patients: expression of genes, levels of proteins, and what the clinic wrote down
(numbers, categories and gaps). The outcome depends on the product of two genes, on a protein and on the stage
of the disease; all other columns are noise. A model that chooses its penalty itself learns from one half of
the patients, and the other half says which columns it owes its accuracy to: what is lost when a column is
permuted, with an interval that covers 0 for noise. Either gene of the product is worth about as much as both
together, since the product needs both; whole tables can be permuted as well. Linear kernels have
coefficients, which find the protein and hardly see the product.

Run it with ``python examples/which_columns_did_it.py [--patients N] [--picture FILE]``.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from multikernel import Gaussian, Linear, MKLClassifier, MKLClassifierCV
from multikernel.inspection import feature_importance
from multikernel.kernels import Mixed

KERNELS = {"genes": Gaussian(), "proteins": Gaussian(), "clinic": Mixed()}


def make_patients(n: int, seed: int = 0) -> tuple[dict[str, pd.DataFrame], np.ndarray]:
    """Three tables of the same patients, and their outcomes."""
    rng = np.random.default_rng(seed)
    genes = pd.DataFrame(rng.normal(size=(n, 4)), columns=["GENE1", "GENE2", "GENE3", "GENE4"])
    proteins = pd.DataFrame(rng.lognormal(size=(n, 3)), columns=["albumin", "ferritin", "insulin"])
    stage = rng.choice(["i", "ii", "iii"], n)
    clinic = pd.DataFrame({"age": rng.normal(60, 9, size=n), "stage": stage})
    clinic.loc[rng.random(n) < 0.1, "age"] = np.nan  # the clinic forgot to ask
    score = (
        1.5 * genes["GENE1"] * genes["GENE2"] + np.log(proteins["ferritin"]) + 1.5 * (stage == "iii") - 0.5
    )
    outcome = np.where(score + 0.3 * rng.normal(size=n) > 0, "relapse", "well")
    return {"genes": genes, "proteins": proteins, "clinic": clinic}, outcome


def rows_of(tables: dict[str, pd.DataFrame], rows: slice) -> dict[str, pd.DataFrame]:
    return {name: table.iloc[rows] for name, table in tables.items()}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--patients", type=int, default=600)
    parser.add_argument("--picture", type=Path, default=Path("run/which_columns.png"))
    given = parser.parse_args(arguments)
    tables, outcome = make_patients(given.patients)
    half = given.patients // 2
    train, test = rows_of(tables, slice(half)), rows_of(tables, slice(half, None))

    model = MKLClassifierCV(KERNELS, random_state=0).fit(train, outcome[:half])
    found = feature_importance(model, test, outcome[half:], random_state=0)
    print(found)

    groups = {"both genes": ["GENE1", "GENE2"], "the other genes": ["GENE3", "GENE4"]}
    together = feature_importance(model, test, outcome[half:], groups=groups, random_state=0)
    print("\nGenes together:")
    print(together.to_frame()[["feature", "importance", "low", "high"]].round(3).to_string(index=False))
    whole = feature_importance(model, test, outcome[half:], groups="views", random_state=0)
    print("\nWhole tables:")
    print(whole.to_frame()[["feature", "importance", "low", "high"]].round(3).to_string(index=False))

    tables_of_numbers = {name: train[name] for name in ("genes", "proteins")}
    linear = MKLClassifier({"genes": Linear(), "proteins": Linear()}).fit(tables_of_numbers, outcome[:half])
    coefficients = feature_importance(linear, {name: test[name] for name in tables_of_numbers})
    print("\nCoefficients of linear kernels, in the units of the columns:")
    print(coefficients.top_features(3).round(3).to_string(index=False))

    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    found.plot(ax)
    given.picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(given.picture, dpi=110)
    plt.close(figure)
    print(f"\nThe picture is in {given.picture}.")


if __name__ == "__main__":
    main()
