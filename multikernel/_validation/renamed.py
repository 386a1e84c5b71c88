"""Parameters of earlier versions: an error gives the present name.

To add a row: put the old name into `RENAMED` under the name of its class; a row of a base class holds for all
its subclasses. The entry is the new name, or, where more than a name has changed, the end of a sentence that
begins "<class> has no parameter '<old>': ", in which ``{owner}`` is the class and ``{value}`` what was given.
A class without `RefusesOldNames` among its bases gets it as one. Functions call `refuse_old_names` with their
own name.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from reprlib import repr as short_repr
from typing import Any, Self

_STORAGE = "how kernels are stored is said by their bank, {owner}(KernelBank(kernels, %s={value}))."

RENAMED: dict[str, dict[str, str]] = {
    "KernelEstimator": {name: _STORAGE % name for name in ("psd", "gram", "dtype", "rank", "missing")},
    "OneKernel": {"kernel": "kernels"},
}


class RefusesOldNames:
    """Base of classes that refuse the names their parameters had, and say the new ones.

    It looks at what a call gives by name and keeps nothing: copies, pickles and clones are made as ever.
    """

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Refuse old names; everything else is for ``__init__``."""
        refuse_old_names(cls, params)
        return super().__new__(cls)


def refuse_old_names(owner: type | str, params: Mapping[str, Any]) -> None:
    """Raise a TypeError for parameters that were renamed.

    Parameters
    ----------
    owner : type or str
        The class, or the name of a function.
    params : mapping
        What a call gives by name. Names that the class has are its own, whatever a base class called so.
    """
    names = [owner] if isinstance(owner, str) else [base.__name__ for base in owner.__mro__]
    for old, value in params.items():
        new = next((row[old] for row in map(RENAMED.get, names) if row and old in row), None)
        if new is None or (isinstance(owner, type) and old in inspect.signature(owner.__init__).parameters):
            continue
        name, given = names[0], short_repr(value)
        if new.isidentifier():
            raise TypeError(
                f"{name} has no parameter {old!r}: its name is {new!r}. Use {name}({new}={given})."
            )
        raise TypeError(f"{name} has no parameter {old!r}: {new.format(owner=name, value=given)}")
