"""Pieces of work that other processes can import."""

import os
import time

from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

DONE: list[int] = []


def double(x, stop=False):
    if stop:
        raise KeyboardInterrupt
    DONE.append(x)
    return {"twice": 2 * x}


def refuse(x):
    raise ValueError("no.")


def refuse_late(x):
    if x in (6, 8):
        raise ValueError(f"not {x}.")
    return {"twice": 2 * x}


def add_up(data, factor, pair):
    X, y = data
    return {"sum": float(factor * ((X + y) @ y)), "pair": list(pair)}


def process_of_inner_work():
    return {"outer": os.getpid(), "inner": Parallel(n_jobs=None)(delayed(os.getpid)() for _ in range(3))}


def note(x, log):
    """Say in a file that this was computed, slowly enough for another process to come in between."""
    with open(log, "a") as file:
        file.write(f"{x}\n")
    time.sleep(0.05)
    return {"twice": 2 * x}


class NotedTree(DecisionTreeClassifier):
    """A tree that says in a file that it was fitted."""

    def __init__(self, log=None, max_depth=None, random_state=0):
        super().__init__(max_depth=max_depth, random_state=random_state)
        self.log = log

    def fit(self, X, y):
        note(0, self.log)
        return super().fit(X, y)
