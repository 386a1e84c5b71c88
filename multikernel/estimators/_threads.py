"""One thread for the linear algebra of a fit."""

from .._threads import one_thread

__all__ = ["one_thread"]
