"""What the thesis claims of localized kernels and local projections, and what our pages say of it.

Where the thesis says "significantly", its test is run on every split: a claim of a difference is reproduced
where it is significant, in the right direction, on more than half of the splits, and a claim of no difference
where it is so on no more than half. Of pictures a claim is judged by the numbers that their pages state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from studies.study import Claim, Summary, Verdict

_POINT = 1.0  # "nearly the same": within one percentage point
_LPK = "LPK (P = 2, R = 1)"
_SOME = 5.0  # "good separation"
_FEW = 2.0  # "clear separation": not more than so many percent on the wrong side


def judge(summaries: Mapping[str, Summary]) -> list[Claim]:
    """Return the claims whose tables and figures are there, with what our results say of them.

    Parameters
    ----------
    summaries : mapping of str to dict
        By stem, e.g. ``"table5.16"``.

    Returns
    -------
    list of Claim
    """
    judges: Sequence[tuple[tuple[str, ...], Callable[[Mapping[str, Summary]], Sequence[Claim]]]] = (
        (("figure3.2", "figure3.3"), _plane),
        (("table5.16", "table5.17", "figure5.8"), _digits),
        (("table5.19",), _advertisements),
        (("table5.21",), _faces),
        (("table5.22", "table5.24"), _regression),
        (tuple(f"figure5.{i}" for i in range(14, 19)), _pictures),
        (tuple(f"figure5.{i}" for i in range(19, 23)), _dimensions),
        (("figure5.23", "figure5.24"), _convergence),
    )
    return [
        claim
        for stems, of_these in judges
        if all(stem in summaries for stem in stems)
        for claim in of_these(summaries)
    ]


# --- chapter 3 ----------------------------------------------------------------------------------------------


def _plane(summaries: Mapping[str, Summary]) -> Sequence[Claim]:
    rows = [row for row in summaries["figure3.2"]["rows"] if row.get("counts", True)]
    values = {row["labels"]["method"]: row["values"] for row in rows}
    mkl, lmkl, lines = (values[key] for key in ("MKL (k_L-k_P)", "LMKL (k_L-k_P)", "LMKL (3 k_L)"))
    better = min(v["accuracy"]["mean"] - mkl["accuracy"]["mean"] for v in (lmkl, lines))
    fewer = max(v["support"]["mean"] - mkl["support"]["mean"] for v in (lmkl, lines))
    curve = summaries["figure3.3"]["rows"]
    many = [row["values"] for row in curve if int(row["labels"]["kernels"]) >= 3]
    accuracy, support = (_span([v[key]["mean"] for v in many]) for key in ("accuracy", "support"))
    return (
        Claim(
            "On GAUSS4 LMKL is more accurate than MKL with fewer support vectors, with k_L and k_P as with "
            "three copies of k_L (section 3.3).",
            _verdict(better > 0 and fewer < 0),
            f"LMKL minus MKL: at least {better:+.2f} points of accuracy, at most {fewer:+.2f} of support "
            "vectors (figure 3.2). With columns as they are and kernels of unit diagonal MKL follows the "
            "boundary too, and the gain is small.",
        ),
        Claim(
            "LMKL has nearly the same accuracy and support vectors with three or more linear kernels, up to "
            "20: it does not overfit (sections 3.3 and 3.5.3).",
            _verdict(accuracy[1] - accuracy[0] <= _POINT and support[1] - support[0] <= 2 * _POINT),
            f"From 3 to 20 kernels: accuracies from {accuracy[0]:.2f} to {accuracy[1]:.2f}, support vectors "
            f"from {support[0]:.2f} to {support[1]:.2f} per cent (figure 3.3).",
        ),
    )


# --- section 5.3 --------------------------------------------------------------------------------------------


def _digits(summaries: Mapping[str, Summary]) -> Sequence[Claim]:
    table, curve = summaries["table5.16"], summaries["figure5.8"]
    active = {
        row["labels"]["method"]: row["values"]["active"]["mean"] for row in summaries["table5.17"]["rows"]
    }
    gated = [active["LMKL (softmax)"], active["LMKL (sigmoid)"]]
    copied = max(row["values"]["accuracy"]["mean"] for row in curve["rows"])
    sigmoid = _scores(table)["LMKL (sigmoid)"]["accuracy"]["mean"]
    return (
        _of_pairs(
            table,
            "table 5.16",
            "On MULTIFEAT-SL LMKL with softmax gating is as accurate as SVM (ALL) with significantly fewer "
            "support vectors (section 5.3.1.1).",
            (("LMKL (softmax)", "SVM (ALL)", "score"), ("LMKL (softmax)", "SVM (ALL)", "support vectors")),
        ),
        _of_pairs(
            table,
            "table 5.16",
            "On MULTIFEAT-SL LMKL with sigmoid gating is significantly more accurate than MKL, SVM (ALL) and "
            "SVM (FAC) (section 5.3.1.1).",
            tuple(("LMKL (sigmoid)", rival, "score") for rival in ("MKL", "SVM (ALL)", "SVM (FAC)")),
        ),
        _of_pairs(
            table,
            "table 5.16",
            "On MULTIFEAT-SL LMKL with sigmoid gating has significantly fewer support vectors than MKL and "
            "SVM (ALL) (section 5.3.1.1).",
            tuple(("LMKL (sigmoid)", rival, "support vectors") for rival in ("MKL", "SVM (ALL)")),
        ),
        Claim(
            "On MULTIFEAT-SL LMKL uses fewer kernels for an input than MKL, with either gate (section "
            "5.3.1.1).",
            _verdict(max(gated) < active["MKL"]),
            f"Active kernels: MKL {active['MKL']:.2f}, softmax {gated[0]:.2f}, sigmoid {gated[1]:.2f} (table "
            "5.17).",
        ),
        Claim(
            "Copies of the kernel on FAC, however many, do not reach sigmoid gating over the six "
            "representations (section 5.3.1.1).",
            _verdict(copied < sigmoid),
            f"The best number of copies has {copied:.2f} per cent (figure 5.8), the six representations "
            f"{sigmoid:.2f} (table 5.16).",
        ),
    )


def _advertisements(summaries: Mapping[str, Summary]) -> Sequence[Claim]:
    return (
        _of_pairs(
            summaries["table5.19"],
            "table 5.19",
            "On ADVERT LMKL is as accurate as MKL and SVM (ALL), with sigmoid gating with "
            "significantly fewer "
            "support vectors than SVM (ALL) (section 5.3.1.1).",
            (
                *((f"LMKL ({gate})", rival, "score") for gate in _GATES for rival in ("MKL", "SVM (ALL)")),
                ("LMKL (sigmoid)", "SVM (ALL)", "support vectors"),
            ),
        ),
    )


_GATES = ("softmax", "sigmoid")


def _faces(summaries: Mapping[str, Summary]) -> Sequence[Claim]:
    table = summaries["table5.21"]
    return (
        _of_pairs(
            table,
            "table 5.21",
            "On OLIVETTI MKL is significantly more accurate than the single SVMs but for 32 × 32 (section "
            "5.3.1.2).",
            tuple(("MKL", f"SVM (x = {side} × {side})", "score") for side in (4, 8, 16, 32, 64)),
        ),
        _of_pairs(
            table,
            "table 5.21",
            "On OLIVETTI LMKL with softmax gating on 4 × 4 or 16 × 16 is as accurate as MKL with "
            "significantly "
            "fewer support vectors (section 5.3.1.2).",
            tuple(
                (f"LMKL (softmax and x^G = {side} × {side})", "MKL", of)
                for side in (4, 16)
                for of in ("score", "support vectors")
            ),
        ),
        _of_pairs(
            table,
            "table 5.21",
            "On OLIVETTI LMKL with sigmoid gating on 8 × 8 is significantly more accurate than MKL (section "
            "5.3.1.2): a gate helps.",
            (("LMKL (sigmoid and x^G = 8 × 8)", "MKL", "score"),),
        ),
        _fewer_patches(summaries["table5.21"]),
    )


def _fewer_patches(table: Summary) -> Claim:
    active = {name: values["active"]["mean"] for name, values in _scores(table).items() if "active" in values}
    softmax, sigmoid = (
        active[f"LMKL ({gate} and x^G = {s} × {s})"] for gate, s in (("softmax", 16), ("sigmoid", 8))
    )
    return Claim(
        "On OLIVETTI MKL and LMKL with softmax gating use fewer patches than LMKL with sigmoid gating "
        "(section 5.3.1.2).",
        _verdict(max(active["MKL"], softmax) < sigmoid),
        f"Active patches of a face: MKL {active['MKL']:.2f}, softmax on 16 × 16 {softmax:.2f}, sigmoid on "
        f"8 × 8 {sigmoid:.2f} (table 5.21).",
    )


def _regression(summaries: Mapping[str, Summary]) -> Sequence[Claim]:
    kernels = ("k_L", *(f"k_P and q = {q}" for q in (2, 3, 4, 5)))
    concrete, wine = summaries["table5.22"], summaries["table5.24"]
    return (
        _of_pairs(
            concrete,
            "table 5.22",
            "On CONCRETE LMKL with either gate is significantly more accurate than all single SVRs (section "
            "5.3.2).",
            tuple((f"LMKL ({gate})", f"SVR ({kernel})", "score") for gate in _GATES for kernel in kernels),
        ),
        _of_pairs(
            concrete,
            "table 5.22",
            "On CONCRETE LMKL with five linear kernels has a significantly lower error than SVR (q = 3) with "
            "significantly fewer support vectors (section 5.3.2).",
            tuple(
                ("LMKL (5 k_L and softmax)", "SVR (k_P and q = 3)", of) for of in ("score", "support vectors")
            ),
        ),
        _of_pairs(
            wine,
            "table 5.24",
            "On WHITEWINE LMKL has a lower error than the SVRs up to q = 3, the same as those of q = "
            "4 and 5, "
            "and fewer support vectors than all (section 5.3.2).",
            tuple(
                (f"LMKL ({gate})", f"SVR ({kernel})", of)
                for gate in _GATES
                for kernel in kernels
                for of in ("score", "support vectors")
            ),
        ),
    )


# --- section 5.4 --------------------------------------------------------------------------------------------


def _pictures(summaries: Mapping[str, Summary]) -> Sequence[Claim]:
    both = ("PCA", "LFDA")
    said: dict[str, tuple[str, tuple[str, ...]]] = {
        "5.14": ("On IRIS LPK separates the merged classes clearly, and PCA and LFDA do not", both),
        "5.16": ("On LETTER LPK separates the merged classes, and PCA does not", both[:1]),
        "5.17": ("On IMAGE SEGMENTATION LPK separates the merged classes, and PCA and LFDA do not", both),
        "5.18": ("On OLIVETTI LPK separates the classes but for a single image, and PCA does not", both[:1]),
    }
    claims = []
    for name, (sentence, rivals) in said.items():
        errors = _errors(summaries[f"figure{name}"])
        others = [errors[rival] for rival in rivals]
        claims.append(
            Claim(
                f"{sentence} (section {'5.4.2' if name == '5.18' else '5.4.1'}).",
                _verdict(errors[_LPK] <= _FEW < min(others)),
                f"On the wrong side in two dimensions: {_percents(errors)} (figure {name}). Clear is at most "
                f"{_FEW:g} per cent.",
            )
        )
    letter, thyroid = (_errors(summaries[f"figure{name}"]) for name in ("5.16", "5.15"))
    return [
        *claims,
        Claim(
            "On LETTER LFDA achieves a good separation too (section 5.4.1).",
            _verdict(letter["LFDA"] <= _SOME),
            f"On the wrong side in two dimensions: {_percents(letter)} (figure 5.16). Good is at most "
            f"{_SOME:g} per cent.",
        ),
        Claim(
            "On THYROID DISEASE the three methods are similar (section 5.4.1).",
            _verdict(max(thyroid.values()) - min(thyroid.values()) <= 5 * _POINT),
            f"On the wrong side in two dimensions: {_percents(thyroid)} (figure 5.15).",
        ),
    ]


def _percents(errors: Mapping[str, float]) -> str:
    return ", ".join(f"{value:.1f} per cent with {method}" for method, value in errors.items())


def _errors(summary: Summary) -> dict[str, float]:
    """Percent on the wrong side, by method."""
    return {row["labels"]["method"]: 100.0 - row["values"]["training"]["mean"] for row in summary["rows"]}


def _dimensions(summaries: Mapping[str, Summary]) -> Sequence[Claim]:
    waves, faces = summaries["figure5.19"], _curves(summaries["figure5.22"])
    local = ("LPK (P = 2)", "LPK (P = 3)")
    rivals = ("PCA + SVM", "LFDA + SVM")
    even, small = (_curves(summaries[f"figure{name}"]) for name in ("5.20", "5.21"))
    gain = min(
        small[kind, size][0] - small["GPK", size][0] for kind in local for size in _learned_sizes(small)
    )
    share = max(small[kind, size][1] for kind in local for size in _learned_sizes(small))
    least = {
        kind: min(even[kind, size][0] for size in _learned_sizes(even)) for kind in ("GPK", "LPK (P = 3)")
    }
    reached = min(faces[kind, size][0] for kind in local for size in _learned_sizes(faces) if size >= 2)
    pca = max(faces["PCA + SVM", size][0] for size in _learned_sizes(faces))
    lfda = [faces["LFDA + SVM", size][0] for size in _learned_sizes(faces)]
    gpk = [faces["GPK", size][0] for size in (4, 5)]
    return (
        _of_pairs(
            waves,
            "figure 5.19",
            "On WAVEFORM LPK with two or three dimensions is significantly more accurate than SVM after PCA "
            "and LFDA, with significantly fewer support vectors (section 5.4.3).",
            tuple(
                (f"{kind}, R = {size}", f"{rival}, R = {size}", of)
                for kind in local
                for size in (2, 3)
                for rival in rivals
                for of in ("score", "support vectors")
            ),
        ),
        Claim(
            "On USPS-EO GPK has more than 87 and LPK (P = 3) more than 90 per cent with any number of "
            "dimensions (section 5.4.3).",
            "cannot be tested",
            "The thesis's USPS is another variant. On ours GPK has at least "
            f"{least['GPK']:.2f} and LPK at least {least['LPK (P = 3)']:.2f} (figure 5.20, a stand-in).",
        ),
        Claim(
            "On USPS-SL LPK is 11 points more accurate than GPK with 5 per cent of support vectors (section "
            "5.4.3).",
            "cannot be tested",
            "The thesis's USPS is another variant. On ours LPK is at least "
            f"{gain:.2f} points above GPK of the same dimensions with at most {share:.2f} per cent of "
            "support vectors (figure 5.21, a stand-in).",
        ),
        Claim(
            "On OLIVETTI LPK has more than 98 per cent from two dimensions on (section 5.4.3).",
            _verdict(reached > 98.0),
            f"With two dimensions or more at least {reached:.2f} per cent (figure 5.22).",
        ),
        Claim(
            "On OLIVETTI SVM after PCA stays below 96 per cent, after LFDA it has about 98, and GPK has more "
            "than 98 with four and five dimensions (section 5.4.3).",
            _verdict(pca <= 96.0 and max(abs(value - 98.0) for value in lfda) <= _POINT and min(gpk) > 98.0),
            f"After PCA at most {pca:.2f}, after LFDA {min(lfda):.2f} to {max(lfda):.2f}, GPK "
            f"{', '.join(f'{value:.2f}' for value in gpk)} per cent (figure 5.22). About is within a point.",
        ),
    )


def _learned_sizes(curves: Mapping[tuple[str, int], tuple[float, float]]) -> list[int]:
    """The dimensions of the learned projections."""
    return [size for method, size in curves if method == "GPK"]


def _curves(summary: Summary) -> dict[tuple[str, int], tuple[float, float]]:
    """Method and dimensions to accuracy and support vectors."""
    return {
        (row["labels"]["method"], int(row["labels"]["dimensions"])): (
            row["values"]["accuracy"]["mean"],
            row["values"]["support"]["mean"],
        )
        for row in summary["rows"]
        if row["labels"].get("dimensions", "all") != "all"
    }


def _convergence(summaries: Mapping[str, Summary]) -> Sequence[Claim]:
    claims = []
    for name, title in (("5.23", "WAVEFORM"), ("5.24", "OLIVETTI")):
        rows = [row["values"] for row in summaries[f"figure{name}"]["rows"] if "iteration" in row["labels"]]
        test = [values["test"]["mean"] for values in rows]
        claims.append(
            Claim(
                f"On {title} LPK does not overfit within 25 iterations (section 5.4.4).",
                _verdict(test[-1] >= max(test) - _POINT),
                f"Test accuracy after 25 iterations {test[-1]:.2f}, the best after any {max(test):.2f} per "
                f"cent (figure {name}).",
            )
        )
    return claims


# --- reading summaries --------------------------------------------------------------------------------------


def _verdict(holds: bool) -> Verdict:
    return "reproduced" if holds else "not reproduced"


def _span(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _scores(summary: Summary) -> dict[str, dict[str, Any]]:
    """Method to its values, of the rows that are no comparison of two."""
    return {row["labels"]["method"]: row["values"] for row in summary["rows"] if "rival" not in row["labels"]}


def _of_pairs(summary: Summary, where: str, sentence: str, pairs: Sequence[tuple[str, str, str]]) -> Claim:
    """The claim that each of some comparisons comes out as printed, by the test of the thesis."""
    rows = {
        (row["labels"]["method"], row["labels"]["rival"], row["labels"]["of"]): row
        for row in summary["rows"]
        if "rival" in row["labels"]
    }
    stand_in = next((row["stand_in"] for row in summary["rows"] if row.get("stand_in")), "")
    if stand_in:
        return Claim(sentence, "cannot be tested", f"{stand_in} ({where}).")
    splits = summary["splits"]
    parts, holds = [], True
    for pair in pairs:
        row = rows[pair]
        more, less = (round(row["values"][key]["mean"]) for key in ("more", "less"))
        said = row["labels"]["paper"]
        holds &= {"more": 2 * more > splits, "less": 2 * less > splits}.get(
            said, 2 * max(more, less) <= splits
        )
        gain = row["values"]["gain"]["mean"]
        parts.append(f"{pair[0]} − {pair[1]}, {pair[2]}: {gain:+.2f}, more on {more}, less on {less}")
    on = "1 split" if splits == 1 else f"{splits} splits"
    return Claim(sentence, _verdict(holds), f"Of {on} ({where}): {'; '.join(parts)}.")
