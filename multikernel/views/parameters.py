"""Parameters of kernels by name: ``kernels__mrna__gamma``, as ``GridSearchCV`` tunes them.

Kernels and views are immutable, so that setting a parameter makes new ones: :func:`with_parameters` returns
what replaces a ``kernels=`` argument, and leaves the one it was given alone. A path is

    <view>__<parameter of the kernel or of the view>        mrna__gamma, mrna__columns
    <view>__kernel                                           the whole kernel
    <view>__<position>__<parameter>                          of a part of a sum or product, mrna__0__gamma

where a view is called as :func:`as_views` names it.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from multikernel.kernels import Kernel
from multikernel.views.view import AUTOMATIC, View, as_views, is_automatic, read_kernel


def parameters(kernels: Any) -> dict[str, Any]:
    """Every parameter of a ``kernels=`` argument by its path; nothing for "auto" and "precomputed".

    Examples
    --------
    >>> from multikernel.kernels import Gaussian, Linear
    >>> views = [("size", Linear(), [0]), ("shape", Gaussian(gamma=0.5) + Linear(), [1, 2])]
    >>> parameters(views)["shape__0__gamma"]
    0.5
    """
    if isinstance(kernels, str):
        return {}
    if hasattr(kernels, "get_params") and not isinstance(kernels, (Kernel, View)):  # a bank
        return dict(kernels.get_params())
    found: dict[str, Any] = {}
    try:
        views = as_views(kernels)
    except (TypeError, ValueError):  # refused in its own words by fit
        return {}
    if _is_one(kernels):
        return _but_name(views[0])
    for view in views:
        found[view.name] = view
        found |= {f"{view.name}__{path}": value for path, value in _but_name(view).items()}
    return found


def _but_name(view: View) -> dict[str, Any]:
    return {path: value for path, value in view.get_params().items() if path != "name"}


def with_parameters(kernels: Any, changes: Mapping[str, Any], owner: str, others: Sequence[str] = ()) -> Any:
    """A ``kernels=`` argument with other parameters.

    Parameters
    ----------
    kernels : as for an estimator
    changes : dict of path -> value
    owner : str
        What the message calls the estimator.
    others : sequence of str
        Parameters of the owner itself that a wrong name may stand for.
    """
    if hasattr(kernels, "get_params") and not isinstance(kernels, (Kernel, View)):  # a bank
        bank = copy.copy(kernels)
        return bank.set_params(**changes)
    if isinstance(kernels, str) and kernels == "precomputed":
        raise ValueError(
            f"Invalid parameter {next(iter(changes))!r} for the kernels of {owner}: kernels='precomputed' "
            "has no parameters, because X holds the matrices. To tune kernels, give them, such as "
            "kernels={'mrna': Gaussian()}, and fit on the tables."
        )
    views = as_views(kernels)
    names = {view.name for view in views}
    by_head: dict[str, dict[str, Any]] = {}
    for path, value in changes.items():
        head, rest = _split(path, names)
        by_head.setdefault(head, {})[rest] = value
    if _is_one(kernels) and not set(by_head) & {view.name for view in views}:
        changed = views[0].set_params(**changes)
        return changed.kernel if isinstance(kernels, (str, Kernel)) or callable(kernels) else changed
    entries = _Entries(kernels, views, others)
    for name, inner in by_head.items():
        entries.change(name, inner, owner)
    return entries.result()


def _split(path: str, names: Collection[str]) -> tuple[str, str]:
    """The name of a view and the rest of a path; names may hold two underscores themselves."""
    own = [name for name in names if path == name or path.startswith(f"{name}__")]
    head = max(own, key=len) if own else path.partition("__")[0]
    return head, path[len(head) + 2 :]


def _changed(view: View, inner: Mapping[str, Any]) -> View:
    """A view after the changes below its name; the empty path replaces the view or its kernel."""
    if "" in inner:
        given = inner[""]
        view = given if isinstance(given, View) else dataclasses.replace(view, kernel=read_kernel(given))
    rest = {path: value for path, value in inner.items() if path}
    return view.set_params(**rest) if rest else view


def _is_one(kernels: Any) -> bool:
    """Whether an argument is one kernel or view, whose parameters need no name before them."""
    if isinstance(kernels, str):
        return kernels not in AUTOMATIC
    return isinstance(kernels, (Kernel, View)) or (callable(kernels) and not isinstance(kernels, type))


class _Entries:
    """The entries of a list or dict of kernels, some of them changed."""

    def __init__(self, kernels: Any, views: list[View], others: Sequence[str]) -> None:
        self.kernels, self.views, self.others = kernels, views, list(others)
        self.changed: dict[int, View] = {}

    def change(self, name: str, inner: Mapping[str, Any], owner: str) -> None:
        names = [view.name for view in self.views]
        if name not in names:
            own = f", its other parameters {self.others}" if self.others else ""
            raise ValueError(
                f"Invalid parameter {name!r} for the kernels of {owner}: there is no view of that name. The "
                f"views are {names}{own}. {self._remedy(name)}".rstrip()
            )
        position = names.index(name)
        self.changed[position] = _changed(self.changed.get(position, self.views[position]), inner)

    def _remedy(self, name: str) -> str:
        """What to do where a name may be that of a table, whose kernels are not called by it."""
        named = f"kernels={{{name!r}: Gaussian(), ...}}"
        if is_automatic(self.kernels, name):
            return (
                "kernels='auto' makes the kernels of each table at fit, and none is called by its table. To "
                f"tune the kernel of a table, name it: {named}, with an entry for each table."
            )
        if not isinstance(self.kernels, Mapping):
            return f"Where {name!r} is one of several tables, name its kernel: {named}."
        of_table = [view.name for view in self.views if view.table == name]
        return f"Those of table {name!r} are {of_table}." if of_table else ""

    def result(self) -> Any:
        """The argument with the changed views in their places."""
        if isinstance(self.kernels, Mapping):
            return self._as_dict()
        given = [self.kernels] if not isinstance(self.kernels, (list, tuple)) else list(self.kernels)
        if isinstance(self.kernels, str) or len(given) != len(self.views):
            given = list(self.views)
        for position, view in self.changed.items():
            bare = isinstance(given[position], (str, Kernel)) and _only_kernel(view, self.views[position])
            given[position] = view.kernel if bare else view
        return given

    def _as_dict(self) -> dict[str, Any]:
        now = [self.changed.get(position, view) for position, view in enumerate(self.views)]
        found: dict[str, Any] = {}
        for table in self.kernels:
            of_table = [view for view in now if view.table == table]
            found[table] = of_table[0] if len(of_table) == 1 else of_table
        return found


def _only_kernel(view: View, before: View) -> bool:
    return dataclasses.replace(view, kernel=before.kernel) == before
