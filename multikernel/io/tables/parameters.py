"""Parameters as they are typed: ``C=10``, ``loss=squared_hinge``, ``probability=true``; nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "none": None,
    "inf": float("inf"),
    "-inf": -float("inf"),
}
_LONGEST = 10_000


def parse_parameters(texts: Iterable[str]) -> dict[str, Any]:
    """Parameters from texts ``name=value``.

    Parameters
    ----------
    texts : iterable of str
        The value is a number, true, false, none, inf, a list or dictionary as Python writes it, or else a
        text, with or without quotes.

    Returns
    -------
    dict

    Examples
    --------
    >>> parse_parameters(["C=10", "loss=squared_hinge", "probability=true", "norm=inf"])
    {'C': 10, 'loss': 'squared_hinge', 'probability': True, 'norm': inf}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise ValueError(f"a parameter must be given as name=value, such as C=10; got {text[:40]!r}.")
        if name in found:
            raise ValueError(f"parameter {name!r} must be given once; got it twice.")
        found[name] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if len(text) > _LONGEST:
        raise ValueError(f"the value of a parameter may have {_LONGEST} characters; got {len(text)}.")
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
