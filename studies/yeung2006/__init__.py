"""D.-Y. Yeung, H. Chang, G. Dai (2006)."""

from studies.study import Study
from studies.yeung2006 import accuracies, faces, fresh, preparation, toy, wine
from studies.yeung2006.claims import claims

STUDY = Study(
    name="yeung2006",
    title="Yeung et al. (2006)",
    citation=(
        "D.-Y. Yeung, H. Chang and G. Dai (2006). Learning the kernel matrix by maximizing a KFD-based class "
        "separability criterion. Manuscript of 22 September 2006; Pattern Recognition 40(7)."
    ),
    tables={table.name: table for table in (*accuracies.TABLES, wine.TABLE)},
    figures={figure.name: figure for figure in (toy.FIGURE, *faces.FIGURES)},
    own={table.name: table for table in (accuracies.OWN, preparation.OWN, fresh.FRESH)},
    notes=(
        "Read the errata of this paper first: the printed ± are no standard deviations over 10 trials, and "
        "not all printed means can be means of 10 trials.",
        "The paper keeps all positive eigenvalues in its equations and allows in a footnote to discard small "
        "ones. The tables here keep all; [variants](own-variants.md) has what truncation changes.",
    ),
    claims=claims,
    data=(faces.FERET,),
)

__all__ = ["STUDY"]
