"""Gram matrices: finite, symmetric, positive semidefinite, of like scale, neither flat nor an identity."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg

from multikernel._validation import all_finite, check_real_matrix, is_indefinite
from multikernel.core.alignment import align_stack
from multikernel.core.kernel_checks import IDENTITY, WIDER_MATRIX, is_near_identity, scale_gap
from multikernel.doctor.diagnosis import Finding, named, percent
from multikernel.kernels import center
from multikernel.kernels._rows import row_blocks
from multikernel.views.stacks import as_stack, names_of

_SAME = 0.9999  # centred alignment: weights of such kernels cannot be distinguished
_FLAT = 1e-3  # of the trace left after centring: different samples are as alike as a sample and itself
_SYMMETRISE = ("K = (K + K.T) / 2", "Symmetrise it in the file: K = (K + K.T) / 2")
_APART, _FAR_APART = 10.0, 100.0  # ratios of mean diagonals: weights of the simplex follow the scale
Matrices = dict[str, np.ndarray]
_STACK = "K"
_PREFIXES = ("kernel_", "K_")


@dataclass
class Examined:
    """A kernel on the sample, made symmetric where it was not, and what became of it."""

    name: str
    K: np.ndarray | None = None  # None where no more can be said of it: not finite, or zero, or constant
    mean_diagonal: float | None = None
    lowest: float | None = None  # the smallest eigenvalue, divided by the mean diagonal
    rank: float | None = None  # (Σ λ)² / Σ λ² of the centred kernel
    shape: str = ""  # or "constant", "flat", "identity"
    alignment: float | None = None
    alone: float | None = None  # how well the nearest other sample predicts: 0 as guessing, 1 perfectly

    def to_row(self) -> dict[str, Any]:
        """A row of the table of kernels."""
        return {
            "name": self.name,
            "mean_diagonal": self.mean_diagonal,
            "smallest_eigenvalue": self.lowest,
            "effective_rank": self.rank,
            "alignment": self.alignment,
            "alone": self.alone,
        }


def examine_kernel(
    name: str, K: np.ndarray, rows: np.ndarray | None = None
) -> tuple[Examined, list[Finding]]:
    """Examine one square matrix: all of it for what is not finite or not symmetric, the rest on `rows`.

    `rows` are given for kernels that the caller brought, None for those that a view made of the sample.
    """
    subject = named("kernel", [name])
    if not all_finite(K):
        bad = ~np.isfinite(K)
        i, j = np.argwhere(bad)[0]
        what = f"{int(bad.sum())} of {K.size} entries are NaN or infinite, the first at ({i}, {j})."
        remedy = "Look for missing or very large values in what it was computed from."
        return Examined(name), [Finding("error", subject, what, remedy)]
    findings = []
    single = K.dtype == np.float32
    gap = _asymmetry(K, 1e-5 if single else 1e-8)
    if gap:
        findings.append(Finding("error", subject, gap, *_SYMMETRISE))
    part = (K if rows is None else K[np.ix_(rows, rows)]).astype(np.float64)
    symmetric = part / 2.0 + part.T / 2.0
    largest = float(np.abs(symmetric).max())
    if largest == 0.0 or float(np.ptp(symmetric)) <= (1e-6 if single else 1e-12) * largest:
        what = "it is all zero." if largest == 0.0 else f"it is constant, {symmetric.flat[0]:g} everywhere."
        remedy = "Leave it out, or change its columns or its parameters."
        return Examined(name, shape="constant"), [*findings, Finding("error", subject, what, remedy)]
    examined = _measure(name, symmetric)
    findings += _check_definite(examined, subject, single, precomputed=rows is not None)
    examined.shape = _shape(examined)
    return examined, findings


def _asymmetry(K: np.ndarray, tolerance: float) -> str:
    """What is asymmetric, and where; empty if nothing is. A block of rows at a time: K may be large."""
    largest = max(float(K.max()), -float(K.min()))
    worst, place, n_entries = 0.0, (0, 0), 0
    for block in row_blocks(len(K), len(K), 1 << 20):
        gaps = np.abs(K[block] / 2.0 - K[:, block].T / 2.0)  # halves do not overflow
        n_entries += int((gaps > tolerance * largest / 2.0).sum())
        row, column = divmod(int(gaps.argmax()), len(K))
        if gaps[row, column] > worst:
            worst, place = float(gaps[row, column]), (block.start + row, column)
    if not n_entries:
        return ""
    i, j = place
    return (
        f"not symmetric: {n_entries // 2} pairs differ, most ({i}, {j}) with {K[i, j]:.4g} against "
        f"{K[j, i]:.4g}, by {2.0 * worst / largest:.1e} of the largest entry."
    )


def _measure(name: str, K: np.ndarray) -> Examined:
    unit = float(np.abs(K).max())
    scaled = K / unit  # nothing overflows
    mean = float(np.mean(scaled.diagonal()))
    eigenvalues = scipy.linalg.eigvalsh(scaled)
    centred = center(scaled)
    square = float(np.vdot(centred, centred))
    # what centring a constant matrix leaves is rounding
    rank = float(np.trace(centred)) ** 2 / square if square > (1e-11 * len(K)) ** 2 else None
    lowest = float(eigenvalues[0]) / (abs(mean) or 1.0)
    return Examined(name, K, mean * unit, lowest, rank)


def _check_definite(examined: Examined, subject: str, single: bool, precomputed: bool) -> Iterator[Finding]:
    K = examined.K
    assert K is not None and examined.lowest is not None
    scaled = K / float(np.abs(K).max())
    # in the precision it came in, so that the verdict is that of a fit
    if is_indefinite(scaled.astype(np.float32) if single else scaled, full=True):
        negative = scipy.linalg.eigvalsh(K)
        share = -float(negative[negative < 0.0].sum()) / float(np.abs(negative).sum())
        what = (
            f"not positive semidefinite: smallest eigenvalue {negative[0]:.3g} "
            f"({examined.lowest:.2g} of the mean diagonal), {percent(share, 1.0)} of the spectrum negative."
        )
        given = '"precomputed"' if precomputed else "model.kernels"
        remedy = f'model.set_params(kernels=KernelBank({given}, psd="clip")). Or repair it: K = repair_psd(K)'
        yield Finding("error", subject, what, remedy, "Fit with --set psd=clip")


def _shape(examined: Examined) -> str:
    K = examined.K
    assert K is not None
    roots = np.sqrt(np.maximum(K.diagonal(), 0.0))
    if len(K) < 3 or not (roots > 0.0).any():
        return ""
    scaled = K / max(float(np.abs(K).max()), 1e-300)
    left = float(np.trace(center(scaled))) / float(np.trace(scaled))
    if 0.0 <= left < _FLAT:
        return "flat"
    return "identity" if is_near_identity(K) else ""


# --- what their shape says ---------------------------------------------------------------------------------

_SCALE_MATRICES = (
    "Ks = [unit_trace(K) for K in Ks], or unit_diagonal",
    "Divide each by its trace in the file: unit_trace(K)",
)
_SCALE_VIEWS = (
    'View(name, kernel, columns, normalize="variance"), or "diagonal"',
    'normalize = "variance" in the file of views, or "diagonal"',
)
_SHAPES = {
    "flat": (
        "every sample is as like every other as itself (centring takes away more than 99.9 % of it): a width "
        "too large, or columns far from 0.",
        'View(name, Gaussian("median"), columns), or transforms="center", normalize="trace".',
        "K = unit_trace(center(K))",
        '--kernels "gaussian(\'median\')", or transforms = "center", normalize = "trace" in the views file',
    ),
    "identity": (
        IDENTITY,
        'View(name, Gaussian("median"), columns), or Gaussian("median", scale=2) for a larger width.',
        WIDER_MATRIX,
        "--kernels \"gaussian('median')\", or gaussian('median', scale=2) for a larger width",
    ),
}


def check_shapes(examined: list[Examined], automatic: bool, precomputed: bool) -> Iterator[Finding]:
    """Kernels that are flat or an identity.

    The widths of ``kernels="auto"`` reach from too small to too large, so that the learner can choose: only
    where all of them are bad is there something to say.
    """
    bad = [kernel for kernel in examined if kernel.shape]
    if automatic and len(bad) < len(examined):
        return
    for shape, (what, for_views, for_matrices, command) in _SHAPES.items():
        names = [kernel.name for kernel in bad if kernel.shape == shape]
        if names:
            remedies = (for_matrices, "") if precomputed else (for_views, command)
            yield Finding("warning", named("kernel", names), what, *remedies)


def check_regularizing(examined: list[Examined]) -> Iterator[Finding]:
    """Kernels beside which the regularisation of discriminant analysis does not matter."""
    names = [
        kernel.name
        for kernel in examined
        if kernel.shape == "identity" and kernel.K is not None and _replaces_identity(kernel.K)
    ]
    if names and len(names) < len(examined):
        what = (
            "so close to the identity that it regularizes: discriminant analysis that learns its kernel "
            "learns reg = 0 with it, and a small reg changes nothing."
        )
        remedy = "Leave it out of KernelDiscriminantClassifier and DiscriminantMKL if reg is to decide."
        yield Finding("note", named("kernel", names), what, remedy, "Leave it out if reg is to decide.")


def _replaces_identity(K: np.ndarray) -> bool:
    """Whether v'K~v / tr K~ ≥ v'v / n for every v of sum zero, K~ the centred kernel.

    Then no positive multiple of the identity is part of the best sum of given trace. The identity itself has
    v'v / (n − 1): its centred trace is n − 1.
    """
    n = len(K)
    centred = center(K / float(np.abs(K).max()))
    mean = float(np.trace(centred)) / n
    lowest = scipy.linalg.eigvalsh(centred + 2.0 * mean / n)[0]  # along the ones it has 2 mean
    return bool(mean > 0.0 and lowest >= mean)


def check_mean_diagonals(examined: list[Examined], precomputed: bool) -> Iterator[Finding]:
    """Kernels of very different scale."""
    gap = scale_gap(
        [kernel.name for kernel in examined], [kernel.mean_diagonal or 0.0 for kernel in examined]
    )
    if gap is not None and gap.ratio > _APART:
        remedies = _SCALE_MATRICES if precomputed else _SCALE_VIEWS
        yield Finding("warning" if gap.ratio > _FAR_APART else "note", "kernels", gap.what, *remedies)


def align(examined: list[Examined], ideal: np.ndarray | None, automatic: bool) -> Iterator[Finding]:
    """Write the alignment with the target into each kernel, and find kernels that are the same."""
    usable = [
        kernel
        for kernel in examined
        if kernel.K is not None and kernel.rank is not None and _has_sound_diagonal(kernel.K)
    ]
    if not usable:
        return
    Ks = np.stack([kernel.K / float(np.abs(kernel.K).max()) for kernel in usable if kernel.K is not None])
    anything = np.arange(float(len(Ks[0])))  # without a target, only the kernels are compared
    table = align_stack(Ks, anything if ideal is None else ideal, centered=True)
    if ideal is not None:
        for kernel, value in zip(usable, table.target, strict=True):
            kernel.alignment = float(value)
    if not automatic:
        yield from _check_doubles(usable, table.pairs)


def _has_sound_diagonal(K: np.ndarray) -> bool:
    return bool(K.diagonal().min() >= 0.0 and K.diagonal().max() > 0.0)


def _check_doubles(usable: list[Examined], pairs: np.ndarray) -> Iterator[Finding]:
    taken: set[int] = set()
    for first, kernel in enumerate(usable):
        if first in taken or kernel.shape == "identity":  # identities are all alike, and named already
            continue
        same = [
            other
            for other in range(first + 1, len(usable))
            if pairs[first, other] > _SAME and other not in taken and usable[other].shape != "identity"
        ]
        taken |= set(same)
        if same:
            doubles = [usable[other].name for other in same]
            what = (
                f"up to its scale the same as kernel {kernel.name!r} (centred alignment "
                f"{pairs[first, same[0]]:.6f}): their weights cannot be distinguished."
            )
            yield Finding("warning", named("kernel", doubles), what, f"Leave {doubles[0]!r} out.")


# --- kernels as they are given ------------------------------------------------------------------------------


def read_matrices(X: Any, n_wanted: int | None) -> tuple[list[Matrices], list[Finding]]:
    """The square matrices by name, those of one size together, and what is wrong with the others.

    The first group is that of `n_wanted` samples where there is one, else that of the first matrix.
    """
    try:
        given = _by_name(X)
    except ValueError as error:
        remedy = "Give X of shape (n, n, n_kernels): stack_kernels([K1, K2])."
        return [], [Finding("error", "kernels", str(error), remedy)]
    findings: list[Finding] = []
    groups: dict[int, Matrices] = {}
    for name, K in given.items():
        try:
            matrix = check_real_matrix(K, named("kernel", [name]))
        except ValueError as error:
            findings.append(Finding("error", named("kernel", [name]), str(error), "Give numbers."))
            continue
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
            what = (
                f"it must be square, similarities of every sample to every sample; got shape {matrix.shape}."
            )
            remedy = "Rows of test samples belong to predict; leave them out here."
            findings.append(Finding("error", named("kernel", [name]), what, remedy))
        else:
            groups.setdefault(len(matrix), {})[name] = matrix
    ordered = sorted(groups.values(), key=lambda group: len(next(iter(group.values()))) != n_wanted)
    if len(ordered) > 1:
        sizes = ", ".join(f"{len(group)} over {size}" for size, group in groups.items())
        what = f"they are over different samples ({sizes}), so that no model takes all of them."
        findings.append(Finding("warning", "kernels", what, "Give a model the kernels of one size."))
    return ordered, findings


def _by_name(X: Any) -> dict[str, Any]:
    if isinstance(X, Mapping):
        if not X:
            raise ValueError("there must be at least one kernel; got an empty dict.")
        return {str(name): K for name, K in X.items()}
    names = names_of(X)
    X = as_stack(X)
    stack = check_real_matrix(X, "the stack of kernels")
    if stack.ndim == 2:
        stack = stack[:, :, None]
    if stack.ndim != 3 or stack.shape[2] == 0:
        raise ValueError(f"kernels must have shape (n, n, n_kernels); got shape {stack.shape}.")
    names = names or [f"kernel-{index}" for index in range(stack.shape[2])]
    return {name: stack[:, :, index] for index, name in enumerate(names)}


# --- kernels in a file --------------------------------------------------------------------------------------


def kernels_in(
    path: Path, target: str | None = None
) -> tuple[dict[str, np.ndarray], np.ndarray | None] | None:
    """The kernels of an .npz file, by name, and its target; None where it is no archive or holds no kernels.

    They are the arrays ``kernel_NAME`` and ``K_NAME``, or the layers of a stack ``K`` (n, n, m) with their
    ``kernel_names``.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            known, wanted = list(file.files), (_STACK, "kernel_names", target)
            arrays = {key: file[key] for key in known if key in wanted or key.startswith(_PREFIXES)}
    except (OSError, ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile):
        return None  # who reads tables says what is wrong with it
    kernels = _in_archive(arrays)
    if not kernels:
        return None
    if target is not None and target not in arrays:
        raise ValueError(
            f"{path.name} has no array {target!r} for the target; it has {', '.join(sorted(known))}."
        )
    return kernels, None if target is None else arrays[target]


def _in_archive(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    single = {
        key.removeprefix(prefix): K
        for prefix in _PREFIXES
        for key, K in arrays.items()
        if key.startswith(prefix) and key != "kernel_names"
    }
    stack = arrays.get(_STACK)
    if single or stack is None:
        return single
    if stack.ndim != 3:
        return {_STACK: stack}
    names = [str(name) for name in arrays.get("kernel_names", np.array([])).ravel()]
    if len(names) != stack.shape[2] or len(set(names)) < len(names):
        names = [f"kernel-{place}" for place in range(stack.shape[2])]
    return {name: stack[:, :, place] for place, name in enumerate(names)}
