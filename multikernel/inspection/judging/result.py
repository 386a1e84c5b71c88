"""What an evaluation found: a mapping of parts, with a sentence, tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from ..._validation import check_choice
from ...viz import evaluations as pictures
from ...viz import samples as sample_pictures
from ...viz import survival as survival_pictures
from ..found import Found
from .answers import Part

_TESTED = ("score", "sd", "difference", "low", "high", "p", "verdict")
_LISTS = {"embedding": "points", "heat_maps": "maps"}  # where the rows of a part are not "rows"
_SENTENCES = ("baselines", "cohort", "overfitting")
_PLOTS: Mapping[str, Callable[..., Any]] = {
    "stability": pictures.stability,
    "without_view": pictures.without_view,
    "baselines": pictures.baselines,
    "learning_curve": pictures.learning_curve,
    "embedding": sample_pictures.embedding,
    "gate": sample_pictures.gate,
}
_OF_HELD_OUT: Mapping[str, Callable[..., Any]] = {
    "confusion": pictures.confusion,
    "residuals": pictures.residuals,
    "groups": survival_pictures.kaplan_meier,
}


class Evaluation(Found, Mapping[str, Any]):
    """What `multikernel.evaluate` found of a model: its parts by name, as a dict has them.

    Parameters
    ----------
    parts : dict
        As `to_dict` returns them.

    Attributes
    ----------
    summary, answer : str
        What was found, in a sentence.

    Examples
    --------
    >>> row = {"metric": "accuracy", "train": 1.0, "score": 0.9, "gap": 0.1}
    >>> found = Evaluation({"overfitting": {"rows": [row], "answer": "Held out, accuracy is 0.900."}})
    >>> print(found)
    Held out, accuracy is 0.900.
    >>> found["overfitting"]["rows"][0]["gap"], found.parts
    (0.1, ['overfitting'])
    """

    _n_rows = None

    def __init__(self, parts: Part) -> None:
        self._parts = parts

    # ------------------------------------------------------------------ as a mapping
    def __getitem__(self, name: str) -> Any:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def to_dict(self) -> Part:
        """Return all of it as plain numbers and texts, which JSON can hold."""
        return self._parts

    @property
    def parts(self) -> list[str]:
        """The parts that were computed."""
        return [name for name, part in self._parts.items() if isinstance(part, Mapping) and name != "data"]

    # ------------------------------------------------------------------ words
    @property
    def answer(self) -> str:
        """Did learning the kernel help, what is the model worth on others' samples, and is it overfitted?"""
        texts = [self._parts[name]["answer"] for name in _SENTENCES if self._parts.get(name)]
        held_out = self._parts.get("held_out")
        if not texts and held_out:
            texts = [f"Held out, {held_out['metric']} is {held_out['score']:.3f}."]
        others = [part["answer"] for part in map(self._parts.get, self.parts) if part and part.get("answer")]
        return (texts or others or [self._why_nothing()])[0]

    def _why_nothing(self) -> str:
        """What stands for the sentence where no part has one."""
        left_out = [f"{each['part']}: {each['why']}" for each in self._parts.get("omitted", [])]
        return " ".join(["No part was computed that has a sentence.", *left_out])

    def __str__(self) -> str:
        return self.summary

    def __repr__(self) -> str:
        return f"<Evaluation: {', '.join(self.parts)}: {self.summary}>"

    # ------------------------------------------------------------------ tables and pictures
    def to_frame(self, part: str | None = None) -> pd.DataFrame:
        """Return a part as a table.

        Parameters
        ----------
        part : str, default=None
            One of `parts`. Without it the scores of all models that were refitted: the model, its rivals and
            the model without each view.

        Returns
        -------
        DataFrame
            A row for each model (of ``part=None``, with the index ``model``), view, sample, score or size.
        """
        if part is not None:
            check_choice("part", part, tuple(self.parts))
            return _frame_of(part, self._parts[part])
        rows = {}
        for name, key, prefix in (("baselines", "name", ""), ("without_view", "view", "without ")):
            for row in (self._parts.get(name) or {"rows": []})["rows"]:
                test = {"difference": row.get("effect"), **row}
                rows[prefix + row[key]] = {what: test.get(what) for what in _TESTED}
        if not rows and self._parts.get("held_out"):
            frame = pd.DataFrame(self._parts["held_out"]["by_score"])
            return frame.set_index("metric")
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(_TESTED))
        return frame.rename_axis("model").sort_values("score", ascending=False, kind="stable")

    def plot(self, part: str | None = None, ax: Any = None) -> Any:
        """Draw a part.

        Parameters
        ----------
        part : str, default=None
            One of `parts`; the first that has a picture if left out, the rivals before all others.
        ax : Axes, default=None
            Where to draw.

        Returns
        -------
        Axes
        """
        if part is not None:
            check_choice("part", part, tuple(self.parts))
        order = [part] if part is not None else ["baselines", *self.parts]
        for name in order:
            draw = self._picture(name)
            if draw is not None:
                return draw(self._parts, ax=ax)
        which = f"the part {part!r}" if part is not None else f"the parts {', '.join(self.parts) or 'none'}"
        raise ValueError(
            f"{which} has no picture. There are pictures of {', '.join([*_PLOTS, 'held_out'])}; "
            "to_frame() has the numbers."
        )

    def _picture(self, name: str) -> Callable[..., Any] | None:
        if not self._parts.get(name):
            return None
        if name != "held_out":
            return _PLOTS.get(name)
        return next((draw for key, draw in _OF_HELD_OUT.items() if self._parts[name].get(key)), None)

    def _remarks(self) -> list[str]:
        notes = [f"{each['part']}: {each['why']}" for each in self._parts.get("omitted", [])]
        return [*self._parts.get("notes", []), *notes]


def _frame_of(name: str, part: Part) -> pd.DataFrame:
    """The rows of a part; of held-out predictions those of its scores."""
    if name == "held_out":
        return pd.DataFrame(part["by_score"]).set_index("metric")
    rows = part[_LISTS.get(name, "rows")]
    frame = pd.DataFrame(rows)
    index = next((key for key in ("name", "view", "n_train", "metric", "row") if key in frame), None)
    if name == "gate":
        weights = pd.DataFrame(frame.pop("weights").tolist(), columns=part["views"], index=frame.index)
        frame = pd.concat([frame, weights], axis=1)
    return frame if index is None else frame.set_index(index)
