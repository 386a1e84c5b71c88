"""Every method by its name: what it is about, for which targets it learns, and how to make it."""

from .method import Method
from .registry import get_method, list_methods
from .siblings import TASKS

__all__ = ["TASKS", "Method", "get_method", "list_methods"]
