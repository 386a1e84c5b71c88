"""The projection of kernel mixtures by a general conic solver, Clarabel: the second opinion on it.

    min ½ u'Hu − f'u [− Σ τ, mode "full"],    Σ_t s_t(j) = 0 for every component j,  u ≥ 0,  Σ_r u_tr ≤ C_t

The coefficients s(j) = S_j u of a component are sparse combinations of the duals, so that H = Σ_j S_j' K_j S_j,
and the multipliers of 1'S_j u = 0 are the offsets. In mode "full" one exponential cone for each dual bounds
τ_tr ≤ −u_tr ln(u_tr / λ_t).

A component that no sample of its class uses must have no coefficients at all: its duals are left out, and its
offset is put where the component cannot speak.
"""

from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse

from ..nonstationary.mixtures import SIDES, Array, Pair
from ..nonstationary.projection import Projected, Projection, finish
from ..result import Status
from .program import Block, minimise

_SILENT = 50.0  # how far below the other components one must be to have no share in double precision


class _Program(NamedTuple):
    """The dual over the components that are used.

    Attributes
    ----------
    linear : array (n_var,), f
    expansions : list of sparse arrays (n, n_var), S_j of the used components, positive ones first
    quadratic : array (n_var, n_var), H
    samples : int array (n_var,), the sample of each dual
    used : pair of bool arrays (M,) and (N,)
    """

    linear: Array
    expansions: list[scipy.sparse.csr_array]
    quadratic: Array
    samples: Array
    used: tuple[Array, Array]


def project_conic(projection: Projection, *, tol: float = 1e-8) -> Projected:
    """Solve the projection by Clarabel.

    Parameters
    ----------
    projection : Projection
    tol : float, the gap, relative to 1 + |dual|, above which the answer is called stalled

    Returns
    -------
    Projected
        ``n_iter`` counts the programs solved: the first is tried again in other units if its gap is too wide.
    """
    program = _make_program(projection)
    answers: list[Projected] = []
    for scale in _scales(projection, program):
        found = _by_clarabel(projection, program, scale)
        if found is None:
            continue
        duals = _as_pair(projection, program, found[0])
        offsets = _offsets(projection, program, duals, found[1])
        answers.append(_judge(projection, duals, offsets, tol, len(answers) + 1))
        if answers[-1].status == Status.OPTIMAL:
            return answers[-1]
    if answers:
        return min(answers, key=lambda answer: abs(answer.gap))
    zeros = (np.zeros_like(projection.linear[0]), np.zeros_like(projection.linear[1]))
    sizes = projection.mixtures.sizes
    return _judge(projection, zeros, (np.zeros(sizes[0]), np.zeros(sizes[1])), tol, 0)


def _judge(projection: Projection, duals: Pair, offsets: Pair, tol: float, n_iter: int) -> Projected:
    status = Status.STALLED
    return finish(projection, duals, offsets, tol=tol, n_iter=n_iter, status=status, solver="conic")


def _make_program(projection: Projection) -> _Program:
    mixtures = projection.mixtures
    used = (projection.posteriors[0].any(axis=0), projection.posteriors[1].any(axis=0))
    samples = np.concatenate([np.repeat(mixtures.rows[side], used[1 - side].sum()) for side in SIDES])
    linear = np.concatenate([projection.linear[side][:, used[1 - side]].ravel() for side in SIDES])
    expansions, quadratic = [], np.zeros((linear.size, linear.size))
    for side in SIDES:
        for j in np.flatnonzero(used[side]):
            shape, columns = (mixtures.n_samples, linear.size), np.arange(linear.size)
            S = scipy.sparse.csr_array((_shares(projection, used, side, j), (samples, columns)), shape=shape)
            expansions.append(S)
            quadratic += S.T @ (mixtures.Ks[mixtures.kernels[side][j]] @ S)
    return _Program(linear, expansions, 0.5 * (quadratic + quadratic.T), samples, used)


def _shares(projection: Projection, used: tuple[Array, Array], side: int, j: int) -> Array:
    """What each dual adds to the coefficient of its sample in component j of a side, (n_var,)."""
    own = np.repeat(projection.posteriors[side][:, j], used[1 - side].sum())
    other = np.tile(-(np.flatnonzero(used[side]) == j).astype(float), projection.mixtures.rows[1 - side].size)
    return np.concatenate([own, other] if side == 0 else [other, own])


def _scales(projection: Projection, program: _Program) -> list[float]:
    """Guesses of the size of the duals: for classes that are well separated, and for those that are not."""
    curvature = float(np.mean(np.diag(program.quadratic)))
    bound = float(projection.mixtures.bounds.max())
    separated = min(bound, float(np.abs(program.linear).mean()) / max(curvature, 1e-300))
    return [separated, float(np.sqrt(separated * bound)), bound]


def _by_clarabel(projection: Projection, program: _Program, scale: float) -> tuple[Array, Array] | None:
    """The duals, and the multipliers of the balance of all used components but the last."""
    n, bounds = program.linear.size, projection.mixtures.bounds
    columns = np.arange(n)
    totals = scipy.sparse.csr_array((np.ones(n), (program.samples, columns)), shape=(bounds.size, n))
    balance = scipy.sparse.vstack(
        [scipy.sparse.csr_array(S.sum(axis=0)[None]) for S in program.expansions[:-1]]
    )
    identity = scipy.sparse.eye_array(n, format="csr")
    blocks = [
        Block(balance, np.zeros(balance.shape[0]), clarabel.ZeroConeT(balance.shape[0])),
        Block(-identity, np.zeros(n), clarabel.NonnegativeConeT(n)),
        Block(totals, bounds / scale, clarabel.NonnegativeConeT(bounds.size)),
    ]
    P, q = scale * program.quadratic, -program.linear
    if projection.mixtures.mode == "full":
        P, q, blocks = _with_entropies(program, P, q, blocks, totals)
    answer = minimise(P, q, blocks)
    if answer is None:
        return None
    return scale * np.maximum(answer.x[:n], 0.0), answer.multipliers[0]


def _with_entropies(
    program: _Program, P: Array, q: Array, blocks: list[Block], totals: scipy.sparse.csr_array
) -> tuple[Array, Array, list[Block]]:
    """The program with one more variable τ and one exponential cone, u exp(τ/u) ≤ λ, for each dual."""
    n = q.size
    nothing = scipy.sparse.csr_array((n, n))
    identity = scipy.sparse.eye_array(n, format="csr")
    rows = scipy.sparse.block_array(
        [[None, -identity], [-identity, nothing], [-totals[program.samples], None]], format="csr"
    )
    rows = rows[np.arange(3 * n).reshape(3, n).T.ravel()]
    wide = [
        Block(scipy.sparse.hstack([block.A, scipy.sparse.csr_array((block.b.size, n))]), block.b, block.cone)
        for block in blocks
    ]
    wide += [Block(rows[3 * i : 3 * i + 3], np.zeros(3), clarabel.ExponentialConeT()) for i in range(n)]
    larger = np.zeros((2 * n, 2 * n))
    larger[:n, :n] = P
    return larger, np.concatenate([q, -np.ones(n)]), wide


def _as_pair(projection: Projection, program: _Program, u: Array) -> Pair:
    """The duals of all components, none above what its sample may have."""
    bounds = projection.mixtures.bounds
    totals = np.bincount(program.samples, u, bounds.size)
    u = u * np.minimum(1.0, bounds / np.maximum(totals, bounds))[program.samples]
    duals = (np.zeros_like(projection.linear[0]), np.zeros_like(projection.linear[1]))
    ends = np.split(u, [int(program.used[1].sum()) * len(duals[0])])
    for side in SIDES:
        duals[side][:, program.used[1 - side]] = ends[side].reshape(len(duals[side]), -1)
    return duals


def _offsets(projection: Projection, program: _Program, duals: Pair, multipliers: Array) -> Pair:
    """The multipliers, 0 for the last component that is used; the unused ones are put out of hearing."""
    offsets = (np.zeros(program.used[0].size), np.zeros(program.used[1].size))
    found = np.split(np.append(multipliers, 0.0), [int(program.used[0].sum())])
    for side in SIDES:
        offsets[side][program.used[side]] = found[side]
    if all(used.all() for used in program.used):
        return offsets
    expansions = projection.point(duals, offsets).expansions
    for side in SIDES:
        heard = (expansions[side] + offsets[side])[:, program.used[side]].max(axis=1)
        for j in np.flatnonzero(~program.used[side]):
            offsets[side][j] = float((heard - expansions[side][:, j]).min()) - _SILENT
    return offsets
