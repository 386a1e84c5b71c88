"""Pieces of work that other processes can import."""

import os

from joblib import Parallel, delayed

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
