"""Pieces of work that other processes can import."""

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
