"""The search that a model was found by: what it chooses, and the same search for another estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

_GRIDS = ("param_grid", "param_distributions")  # as scikit-learn's searches call theirs

Grid = dict[str, Any]


@dataclass(frozen=True)
class Search:
    """A fitted search.

    Attributes
    ----------
    fitted : the search itself
    prefix : str, what comes before the parameters of the estimator on kernels in its grid
    place : str, what comes before the parameters of the search in those of the whole model
    """

    fitted: Any
    prefix: str
    place: str = ""

    @property
    def _attribute(self) -> str | None:
        return next((name for name in _GRIDS if hasattr(self.fitted, name)), None)

    @property
    def grids(self) -> list[Grid]:
        """What is chosen from; nothing where the search has no grid."""
        given = getattr(self.fitted, self._attribute) if self._attribute else []
        return [dict(given)] if hasattr(given, "keys") else [dict(grid) for grid in given]

    @property
    def names(self) -> list[str]:
        """The parameters that it chooses."""
        return list(dict.fromkeys(name for grid in self.grids for name in grid))

    def chooses(self, parameter: str) -> bool:
        """Whether it chooses this parameter of the estimator on kernels."""
        return self.prefix + parameter in self.names

    def with_choices(self, model: Any, parameter: str, change: Callable[[Any], Any]) -> Any:
        """Change each choice of a parameter in the grid of an unfitted copy of the model; None leaves it out.

        Raises
        ------
        ValueError
            If nothing is left to choose from.
        """
        key, grids = self.prefix + parameter, []
        for grid in self.grids:
            if key in grid:
                left = [changed for changed in map(change, grid[key]) if changed is not None]
                if not left:
                    continue
                grid[key] = left
            grids.append(grid)
        if not grids:
            raise ValueError(f"the search would have no {parameter} left to choose from.")
        return model.set_params(**{f"{self.place}{self._attribute}": grids})

    def over(self, estimator: Any, head: str = "", never: tuple[str, ...] = ()) -> tuple[Any, list[str]]:
        """The same search for another estimator, over the parameters that both have, and their names.

        `head` comes before them in those of the estimator on kernels. Without any it is the estimator itself.
        """
        known = estimator.get_params(deep=True).keys() - set(never)
        start = self.prefix + head
        grids: list[Grid] = []
        for grid in self.grids:
            ours = {key.removeprefix(start): grid[key] for key in grid if key.startswith(start)}
            shared = {key: values for key, values in ours.items() if key in known}
            if shared not in grids:
                grids.append(shared)
        names = list(dict.fromkeys(name for grid in grids for name in grid))
        if not names or self._attribute is None:
            return estimator, []
        copied = clone(self.fitted)
        return copied.set_params(estimator=estimator, **{self._attribute: grids}), names
