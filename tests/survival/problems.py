"""Small survival problems, and the three losses written out as their definitions say."""

import numpy as np


def sample(n=40, seed=0, *, ties=False, entry=False):
    """Three groups of columns, of which the first and the last tell; event, time and entry."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    death = rng.exponential(np.exp(-X[:, 0] + 0.7 * X[:, 4]))
    end = rng.exponential(2.0, size=n)
    time, event = np.minimum(death, end), death <= end
    if ties:
        time = np.ceil(4.0 * time) / 4.0
    time = time + 0.01
    start = time * rng.uniform(0.0, 0.6, size=n) if entry else None
    return X, event, time, start


def views(X):
    return [X[:, :2], X[:, 2:4], X[:, 4:]]


def linear_stack(X):
    return np.stack([Z @ Z.T for Z in views(X)])


def comparable_pairs(event, time):
    """(i, j) where i has an event and j is known to live longer."""
    later = (time[:, None] < time[None]) | ((time[:, None] == time[None]) & ~event[None])
    return np.argwhere(event[:, None] & later)


def risk_sets(event, time, entry=None, stratum=None):
    """The tied events and the risk set of each time with events."""
    begin = np.full(time.size, -1.0) if entry is None else entry
    codes = np.zeros(time.size) if stratum is None else stratum
    for code in np.unique(codes):
        inside = codes == code
        for at in np.unique(time[event & inside]):
            dead = np.flatnonzero(event & inside & (time == at))
            yield dead, np.flatnonzero(inside & (begin < at) & (time >= at))


def partial_likelihood(u, event, time, weights=None, entry=None, stratum=None, ties="breslow"):
    """Minus the log of Cox's partial likelihood."""
    w = np.ones(time.size) if weights is None else weights
    value = 0.0
    for dead, at_risk in risk_sets(event, time, entry, stratum):
        R, D = w[at_risk] @ np.exp(u[at_risk]), w[dead] @ np.exp(u[dead])
        weight, d = w[dead].sum(), dead.size
        shares = np.arange(d) / d if ties == "efron" else np.zeros(1)
        value += weight / shares.size * np.log(R - shares * D).sum() - w[dead] @ u[dead]
    return value


def ranking(u, event, time, weights=None):
    """Σ w times the mean of ½ [1 − (u_i − u_j)]₊² over the pairs."""
    w = np.ones(time.size) if weights is None else weights
    i, j = comparable_pairs(event, time).T
    pairs = w[i] * w[j]
    return w.sum() * np.average(0.5 * np.maximum(1.0 - u[i] + u[j], 0.0) ** 2, weights=pairs)


def regression(u, event, time, epsilon, weights=None):
    """One-sided errors of censored log times."""
    w = np.ones(time.size) if weights is None else weights
    residual = u + np.log(time)
    errors = np.where(event, np.abs(residual), residual)
    return w @ np.maximum(errors - epsilon, 0.0)
