"""One view of a low-rank bank: which map stands for its kernel, and its factors of any rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from multikernel.kernels import Kernel, Kronecker, Pairwise, Precomputed
from multikernel.kernels._rows import Pair, Rows
from multikernel.views._finish import naming
from multikernel.views.columns import Selection
from multikernel.views.low_rank.maps import FeatureMap, evaluate_diagonal
from multikernel.views.low_rank.transforms import FactorStep, Shift, UnitLength, check_transforms
from multikernel.views.scaling import Scaling
from multikernel.views.view import View, has_part


@dataclass(frozen=True, eq=False)
class FactorView:
    """A view after fit: its kernel with numbers for parameters, its columns, its map and its transforms.

    `traces` are Σ k(x, x) and Σ ‖z‖² over the reference rows after the transforms; `gram_error` is
    ‖K − Z Zᵀ‖ / ‖K‖ before them, on some of the reference rows.
    """

    name: str
    kernel: Kernel
    selection: Selection
    scaling: Scaling | None = field(repr=False)
    approximation: str
    map: FeatureMap | None = field(repr=False)
    steps: tuple[FactorStep, ...] = field(repr=False)
    traces: np.ndarray = field(repr=False)
    gram_error: float

    @property
    def label(self) -> str:
        return f"view {self.name!r}"

    @property
    def rank(self) -> int:
        """Number of columns of its factors; 0 for a view that is not active."""
        return 0 if self.map is None else self.map.rank

    def dropped(self) -> FactorView:
        """The same view without what its factors are computed from."""
        return replace(self, scaling=None, map=None, steps=())

    def rows(self, table: Any) -> Rows:
        """The view's columns of `table`, scaled as the reference rows were."""
        rows = Rows(self.selection.take(table, self.label), self.label, one_column=self.selection.scalar)
        return rows if self.scaling is None else Rows(self.scaling.apply(rows.values, self.label), self.label)

    def write(self, pair: Pair, Z: np.ndarray, *, diagonal: bool = False) -> np.ndarray | None:
        """Write the factors of the pair's left rows into Z (n, rank), float64; returns k(x, x) if asked."""
        assert self.map is not None
        pair.left.label = self.label
        with naming(self.label):
            self.map.write(self.kernel, pair, Z)
            return self._transform(pair.left, Z, diagonal)

    def diagonal(self, pair: Pair) -> np.ndarray:
        """Exact k(x, x) of the pair's left rows after the transforms."""
        # only a centre is a matter of factors
        width = self.rank if any(isinstance(step, Shift) for step in self.steps) else 0
        Z = np.empty((len(pair.left), width))
        if width:
            exact = self.write(pair, Z, diagonal=True)
        else:
            pair.left.label = self.label
            with naming(self.label):
                exact = self._transform(pair.left, Z, True)
        assert exact is not None
        return exact

    def _transform(self, rows: Rows, Z: np.ndarray, diagonal: bool) -> np.ndarray | None:
        lengths = [place for place, step in enumerate(self.steps) if isinstance(step, UnitLength)]
        last = len(self.steps) if diagonal else max(lengths, default=-1)  # the last that needs k(x, x)
        exact = evaluate_diagonal(self.kernel, rows) if last >= 0 else None
        for place, step in enumerate(self.steps):
            exact = step.apply(Z, exact if place <= last else None)
        return exact


def check_low_rank(view: View) -> None:
    """Refuse a view whose kernel or transforms factors cannot stand for."""
    with naming(f"view {view.name!r}"):
        check_transforms(view.transforms)
        if has_part(view.kernel, Precomputed, outside=(Kronecker, Pairwise)):
            raise ValueError(
                f"{view.kernel!r} is a matrix that is there already; factors would take its place. Use "
                "gram='dense'."
            )
        if not view.kernel.is_psd:
            raise ValueError(
                f"{view.kernel!r} is not positive semidefinite, so that no factors stand for it. Use another "
                "kernel, or gram='dense' with psd='clip' or 'shift'."
            )
