"""Kernels written as text: ``"gaussian(gamma='median', scale=2) * polynomial(2) + linear"``.

The text is read as a syntax tree, of which only sums, products, powers, number factors and calls of known
kernels are understood: nothing in it is ever run.
"""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Sequence
from typing import Any, NoReturn

from multikernel.kernels.base import Kernel
from multikernel.kernels.distance import Chi2, Gaussian, Laplacian
from multikernel.kernels.dot import Cosine, Linear, Polynomial, Sigmoid
from multikernel.kernels.given import EmpiricalMap
from multikernel.kernels.graphs import GraphKernel
from multikernel.kernels.mixed import Hamming, Mixed
from multikernel.kernels.pairs import Kronecker, Pairwise
from multikernel.kernels.sets import Jaccard, Tanimoto
from multikernel.kernels.strings import Gappy, LocalAlignment, Mismatch, Spectrum, WeightedDegree

_OF_NUMBERS: tuple[type[Kernel], ...] = (Chi2, Cosine, Gaussian, Laplacian, Linear, Polynomial, Sigmoid)
_OF_SEQUENCES: tuple[type[Kernel], ...] = (Gappy, LocalAlignment, Mismatch, Spectrum, WeightedDegree)
_OF_SETS: tuple[type[Kernel], ...] = (GraphKernel, Hamming, Jaccard, Mixed, Tanimoto)
# Those made of kernels, and which of their parameters are kernels.
_OF_KERNELS: dict[type[Kernel], tuple[str, ...]] = {
    EmpiricalMap: ("base",),
    Kronecker: ("left", "right"),
    Pairwise: ("base",),
}
_KERNELS: dict[str, type[Kernel]] = {
    kind.__name__.lower(): kind for kind in (*_OF_NUMBERS, *_OF_SEQUENCES, *_OF_SETS, *_OF_KERNELS)
}
# What other libraries call them.
_ELSEWHERE = {"rbf": "gaussian", "poly": "polynomial", "quadratic": "polynomial", "laplace": "laplacian"}
_ELSEWHERE |= {"minmax": "tanimoto", "ruzicka": "tanimoto", "gower": "mixed", "clinical": "mixed"}
_NOT_TEXT = ("precomputed", "functionkernel", "diffusion", "regularizedlaplacian", "randomwalk")
_LONGEST = 2000


def kernel_names() -> list[str]:
    """Return the names of the kernels that can be written as text, in order.

    Examples
    --------
    >>> "gaussian" in kernel_names()
    True
    """
    return sorted(_KERNELS)


def parse_kernel(text: str) -> Kernel:
    """Make a kernel from text, without running any of it.

    Parameters
    ----------
    text : str
        Names of kernels, small letters or as their classes are called, with or without parameters; sums
        ``a + b``, products ``a * b``, powers ``a ** 2`` and positive factors ``0.5 * a`` of them.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If a part is not understood; the message names it and its place, and what there is.

    Examples
    --------
    >>> parse_kernel("gaussian(gamma='median', scale=2) * polynomial(2) + linear")
    Gaussian(gamma='median', scale=2.0) * Polynomial() + Linear()
    >>> parse_kernel("0.5 * (Linear() + cosine) ** 2")
    0.5 * (Linear() + Cosine()) ** 2
    """
    reader = _Reader(text)
    if isinstance(reader.tree, ast.Tuple):
        reader.refuse(reader.tree, "one kernel was expected, and a list of kernels was found.")
    return reader.kernel(reader.tree)


def parse_kernels(text: str) -> list[Kernel]:
    """Make a list of kernels from text with commas between them.

    Parameters
    ----------
    text : str
        Each as for `parse_kernel`.

    Returns
    -------
    list of Kernel

    Examples
    --------
    >>> parse_kernels("linear, gaussian(scale=2)")
    [Linear(), Gaussian(gamma='median', scale=2.0)]
    """
    reader = _Reader(text)
    parts = reader.tree.elts if isinstance(reader.tree, ast.Tuple) else [reader.tree]
    return [reader.kernel(part) for part in parts]


class _Reader:
    """Reads one text; its errors name the text and the place in it."""

    def __init__(self, text: Any) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a kernel must be written as text, such as 'gaussian(scale=2)'; got {text!r}.")
        self.text = text.strip()
        if not self.text:
            raise ValueError(f"a kernel must be written out; got an empty text. {_known()}")
        if len(self.text) > _LONGEST:
            raise ValueError(f"a kernel may have {_LONGEST} characters at most; got {len(self.text)}.")
        try:
            self.tree: ast.expr = ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            place = "" if not error.offset else f", character {error.offset}"
            raise ValueError(
                f"kernel {self.text!r}{place}: {error.msg}. Write it like gaussian(scale=2) + 0.5 * linear."
            ) from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise ValueError(f"kernel {self.text[:80]!r} cannot be read: {error}.") from None

    def refuse(self, node: ast.AST, why: str) -> NoReturn:
        """Raise the error of a part, with its place counted in characters from 1."""
        column = getattr(node, "col_offset", 0)
        line = self.text.splitlines()[getattr(node, "lineno", 1) - 1]
        character = len(line.encode()[:column].decode()) + 1
        part = ast.get_source_segment(self.text, node) or self.text
        where = "" if part == self.text else f", {part!r} at character {character}"
        raise ValueError(f"kernel {self.text!r}{where}: {why}") from None

    def kernel(self, node: ast.expr) -> Kernel:
        """The kernel that a part stands for."""
        found = self._term(node)
        if not isinstance(found, Kernel):
            self.refuse(node, f"a kernel was expected, not a number. {_known()}")
        return found

    def _term(self, node: ast.expr) -> Kernel | float:
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Name):
            return self._made(node, node, [], {})
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value is not True:
            return node.value
        return self.refuse(
            node, f"only kernels, + * ** and number factors are understood. {_hint_on_text(node)}{_known()}"
        )

    def _operation(self, node: ast.BinOp) -> Kernel:
        if isinstance(node.op, ast.Add):
            return self.kernel(node.left) + self.kernel(node.right)
        if isinstance(node.op, ast.Pow):
            base, exponent = self.kernel(node.left), self._value(node.right)
            return self._applied(node, lambda: base**exponent)
        if not isinstance(node.op, ast.Mult):
            self.refuse(node, "kernels have sums, products, powers and number factors: + * ** only.")
        left, right = self._term(node.left), self._term(node.right)
        if not isinstance(left, Kernel) and not isinstance(right, Kernel):
            self.refuse(node, "a factor is one number; multiply the numbers before.")
        return self._applied(node, lambda: left * right)

    def _applied(self, node: ast.expr, make: Any) -> Kernel:
        """What a kernel's own checks let through; their refusals are given a place."""
        try:
            made: Kernel = make()
        except (TypeError, ValueError) as error:
            self.refuse(node, str(error))
        return made

    def _call(self, node: ast.Call) -> Kernel:
        if not isinstance(node.func, ast.Name):
            self.refuse(node, f"only kernels can be called. {_known()}")
        given: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg in given:
                self.refuse(keyword, "each parameter is given once, by its name.")
            given[keyword.arg] = self._value(keyword.value)
        return self._made(node, node.func, [self._value(argument) for argument in node.args], given)

    def _value(self, node: ast.expr) -> Any:
        """A parameter: a number, a text, True, False, None, or a kernel for a kernel of kernels."""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, str, bool, type(None)):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            number = node.operand.value if isinstance(node.operand, ast.Constant) else None
            if type(number) in (int, float):
                return -number if isinstance(node.op, ast.USub) else number  # type: ignore[operator]
        if isinstance(node, ast.Name) and node.id.lower() not in _KERNELS:
            self.refuse(node, f"a parameter is a number or a text in quotes, such as '{node.id}'.")
        if isinstance(node, ast.Name | ast.Call | ast.BinOp):
            return self.kernel(node)
        return self.refuse(node, "a parameter must be a number, a text in quotes, True, False or None.")

    def _made(self, node: ast.expr, name: ast.Name, positional: list[Any], named: dict[str, Any]) -> Kernel:
        kind = _KERNELS.get(name.id.lower())
        if kind is None:
            self.refuse(node, f"unknown kernel {name.id!r}. {_closest(name.id)}{_known()}")
        parameters = list(inspect.signature(kind).parameters)
        open_ended = inspect.getfullargspec(kind).varkw is not None
        unknown = [] if open_ended else [parameter for parameter in named if parameter not in parameters]
        if unknown:
            hint = _closest(unknown[0], parameters)
            self.refuse(
                node, f"{name.id} has no parameter {unknown[0]!r}. {hint}{_parameters(name.id, parameters)}"
            )
        return self._applied(node, lambda: self._checked(kind, name.id, parameters, positional, named))

    @staticmethod
    def _checked(
        kind: type[Kernel], name: str, parameters: list[str], positional: list[Any], named: dict[str, Any]
    ) -> Kernel:
        try:
            bound = inspect.signature(kind).bind(*positional, **named)
        except TypeError as error:
            raise TypeError(f"{error}. {_parameters(name, parameters)}") from None
        for parameter, value in bound.arguments.items():
            is_kernel = parameter in _OF_KERNELS.get(kind, ())
            if isinstance(value, Kernel) is not is_kernel:
                wanted = "a kernel" if is_kernel else "a number or a text"
                raise TypeError(f"{name}: {parameter} must be {wanted}; got {value!r}.")
        return kind(*bound.args, **bound.kwargs)


def _known() -> str:
    return f"The kernels are {', '.join(kernel_names())}."


def _parameters(name: str, parameters: Sequence[str]) -> str:
    return f"{name} has {', '.join(parameters)}." if parameters else f"{name} has no parameters."


def _closest(name: str, known: Sequence[str] | None = None) -> str:
    if known is None and name.lower() in _ELSEWHERE:
        return f"Did you mean {_ELSEWHERE[name.lower()]!r}? "
    if known is None and name.lower() in _NOT_TEXT:
        return "It needs a matrix, a function or a network, which text cannot hold. "
    near = difflib.get_close_matches(name.lower(), kernel_names() if known is None else known, 1)
    return f"Did you mean {near[0]!r}? " if near else ""


def _hint_on_text(node: ast.expr) -> str:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return "Write names of kernels without quotes. " if is_text else ""
