"""Which gene sets carry weight beyond chance?
===========================================

Expression of genes in lower-grade gliomas of two classes, with the hallmark gene sets as views. A model with
one kernel for each set gives weight to some of them. Which of these weights are more than chance? Three
questions have three answers, and each comes with its error rate:

- "Has the set to do with the class?" A permutation test of each set by itself. A difference that runs through
  the whole transcriptome shows in every set.
- "Does it say something that the other sets do not?" The same test of what the other sets leave of the class.
- "Is its weight larger than by chance?" The weights along a path of C, against those of permuted classes, and
  stability selection, which asks whether halves of the samples give weight to the same sets.

The accuracy over folds says how much all sets together are worth, so that nobody reads too much into the
weights of a weak model. The samples are few, and the genes were selected by those who published the table,
maybe with the classes, so that accuracy and p-values may be too good.

The data set "expression_with_gene_symbols" and the file ``genesets/hallmark.gmt`` beside it are needed, see
``multikernel data list``; without them the script says so and ends. Run it with ``python
examples/which_gene_sets_carry_weight.py [--permutations N] [--picture FILE]``.
"""

import argparse
import os
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import StratifiedKFold, cross_val_score

from multikernel import MKLClassifier, View
from multikernel.datasets import list_datasets, load_dataset
from multikernel.inspection import enriched_sets, select_views
from multikernel.views import views_from_gene_sets

NAME, SETS = "expression_with_gene_symbols", Path("genesets") / "hallmark.gmt"
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def load() -> tuple[pd.DataFrame, pd.Series, list[View]] | None:
    """Expression by gene, the classes, and a view for each gene set; None where they are not at hand."""
    path = Path(os.environ.get("MULTIKERNEL_DATA", "")) / SETS
    if NAME not in list_datasets().index or not path.is_file():
        return None
    arrays = load_dataset(NAME).arrays
    X = pd.DataFrame(arrays["X"], columns=arrays["feature_names"].tolist())
    views = views_from_gene_sets(list(X.columns), path, min_genes=5, rest=False)
    return X, pd.Series(arrays["class_names"][arrays["y"]]), list(views)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--permutations", type=int, default=200)
    parser.add_argument("--picture", type=Path, default=Path("run/gene_sets_with_weight.png"))
    given = parser.parse_args(arguments)
    loaded = load()
    if loaded is None:
        print(f"The data set {NAME!r} and {SETS} are not at hand: set MULTIKERNEL_DATA to their folder.")
        return
    X, y, views = loaded
    model = MKLClassifier(views)
    accuracy = cross_val_score(model, X, y, cv=FOLDS)
    largest = y.value_counts(normalize=True).max()
    print(
        f"{len(X)} samples, {len(views)} sets. Accuracy over five folds: {accuracy.mean():.3f}, standard "
        f"deviation {accuracy.std(ddof=1):.3f}; the larger class has {largest:.3f}.\n"
    )
    print("Has the set to do with the class?")
    marginal = select_views(model, X, y, random_state=0)
    print(f"  {marginal.answer}")
    print("Does it say something that the other sets do not?")
    print(f"  {select_views(model, X, y, method='conditional', random_state=0).answer}")
    print("Is its weight larger than by chance?")
    found = enriched_sets(model, X, y, n_permutations=given.permutations, random_state=0)
    print(f"  {found.answer}")
    print(found.to_frame().head(5).drop(columns="enriched").round(3).to_string())
    stable = select_views(model, X, y, method="stability", random_state=0)
    print(f"  Halves of the samples: {stable.answer}")
    both = sorted(set(found.enriched) & set(stable.selected))
    print(f"  Sets that both name: {', '.join(both) if both else 'none'}.")

    figure, axes = plt.subplots(1, 2, figsize=(16, 8), layout="constrained")
    found.plot(axes[0])
    stable.plot(axes[1], most=25)
    given.picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(given.picture, dpi=110)
    plt.close(figure)
    print(f"\nThe picture is in {given.picture}.")


if __name__ == "__main__":
    main()
