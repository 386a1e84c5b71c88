"""The projection of kernel mixtures by a general conic solver, Clarabel: the second opinion on it.

    min ½ u'Hu − f'u [− Σ τ, mode "full"],    Σ_t s_t(j) = 0 for every component j,  u ≥ 0,  Σ_r u_tr ≤ C_t

The multipliers of the balance of the coefficients are the offsets. In mode "full" one exponential cone for
each dual bounds τ_tr ≤ −u_tr ln(u_tr / λ_t).

A component that no sample of its class uses must have no coefficients at all: its duals are left out, and its
offset is put where the component cannot speak.
"""

from dataclasses import replace

import clarabel
import numpy as np
import scipy.sparse

from multikernel.core.optim.loop import Status
from multikernel.nonstationary.solver.mixtures import SIDES, Array, Pair
from multikernel.nonstationary.solver.projection import (
    DenseProgram,
    Projected,
    Projection,
    Variables,
    dense_program,
    finish,
    select,
)

from .program import Block, minimise

_SILENT = 50.0  # how far below the other components one must be to have no share in double precision


def project_conic(projection: Projection, *, tol: float = 1e-8) -> Projected:
    """Solve the projection by Clarabel.

    Parameters
    ----------
    projection : Projection
    tol : float, the gap above which the answer is called stalled

    Returns
    -------
    Projected
        ``n_iter`` counts the programs solved: the first is tried again in other units if its gap is too wide.
    """
    used, variables = _used(projection)
    program = dense_program(projection, variables)
    balanced = np.flatnonzero(np.concatenate(used))[:-1]  # the last one follows from the others
    answers: list[Projected] = []
    for scale in _scales(program):
        found = _by_clarabel(program, program.A[balanced], scale)
        if found is None:
            continue
        multipliers = np.zeros(len(program.A))
        multipliers[balanced] = found[1]
        duals = variables.spread(found[0])
        offsets = _offsets(projection, duals, multipliers, used)
        answers.append(_judge(projection, duals, offsets, tol, len(answers) + 1))
        if answers[-1].status == Status.OPTIMAL:
            return answers[-1]
    if answers:
        return replace(min(answers, key=lambda answer: answer.error), n_iter=len(answers))
    zeros = np.zeros_like(projection.linear[0]), np.zeros_like(projection.linear[1])
    sizes = projection.mixtures.sizes
    return _judge(projection, zeros, (np.zeros(sizes[0]), np.zeros(sizes[1])), tol, 0)


def _judge(projection: Projection, duals: Pair, offsets: Pair, tol: float, n_iter: int) -> Projected:
    status = Status.STALLED
    return finish(projection, duals, offsets, tol=tol, n_iter=n_iter, status=status)


def _used(projection: Projection) -> tuple[Pair, Variables]:
    """The components that some sample of their class uses, and the duals that belong to them."""
    q = projection.posteriors
    used = np.asarray(q[0].any(axis=0)), np.asarray(q[1].any(axis=0))
    return used, select((np.tile(used[1], (len(q[0]), 1)), np.tile(used[0], (len(q[1]), 1))))


def _scales(program: DenseProgram) -> list[float]:
    """Guesses of the size of the duals: for classes that are well separated, and for those that are not."""
    curvature, bound = float(np.mean(np.diagonal(program.H))), float(program.C.max())
    separated = min(bound, float(np.abs(program.f).mean()) / max(curvature, 1e-300))
    return [separated, float(np.sqrt(separated * bound)), bound]


def _by_clarabel(program: DenseProgram, A: Array, scale: float) -> tuple[Array, Array] | None:
    """The duals, none above what its sample may have, and the multipliers of Au = 0."""
    n, C = program.f.size, program.C
    totals = scipy.sparse.csr_array((np.ones(n), (program.group, np.arange(n))), shape=(C.size, n))
    blocks = [
        Block(A, np.zeros(len(A)), clarabel.ZeroConeT(len(A))),
        Block(-scipy.sparse.eye_array(n), np.zeros(n), clarabel.NonnegativeConeT(n)),
        Block(totals, C / scale, clarabel.NonnegativeConeT(C.size)),
    ]
    P, q = scale * program.H, -program.f
    if program.entropic:
        P, q, blocks = _with_entropies(P, q, blocks, totals[program.group])
    answer = minimise(P, q, blocks)
    if answer is None:
        return None
    u = scale * np.maximum(answer.x[:n], 0.0)
    u *= np.minimum(1.0, C / np.maximum(program.total(u), C))[program.group]
    return u, answer.multipliers[0]


def _with_entropies(
    P: Array, q: Array, blocks: list[Block], totals: scipy.sparse.csr_array
) -> tuple[Array, Array, list[Block]]:
    """The program with one more variable τ and one exponential cone, u exp(τ/u) ≤ λ, for each dual."""
    n = q.size
    identity, nothing = scipy.sparse.eye_array(n), scipy.sparse.csr_array((n, n))
    rows = scipy.sparse.block_array([[None, -identity], [-identity, nothing], [-totals, None]], format="csr")
    rows = rows[np.arange(3 * n).reshape(3, n).T.ravel()]
    wide = [
        Block(scipy.sparse.hstack([block.A, scipy.sparse.csr_array((block.b.size, n))]), block.b, block.cone)
        for block in blocks
    ]
    cones = [Block(rows[3 * i : 3 * i + 3], np.zeros(3), clarabel.ExponentialConeT()) for i in range(n)]
    larger = np.zeros((2 * n, 2 * n))
    larger[:n, :n] = P
    return larger, np.concatenate([q, -np.ones(n)]), wide + cones


def _offsets(projection: Projection, duals: Pair, multipliers: Array, used: Pair) -> Pair:
    """The multipliers; the components that no sample uses are put out of hearing."""
    M = used[0].size
    offsets = multipliers[:M], -multipliers[M:]
    if used[0].all() and used[1].all():
        return offsets
    expansions = projection.point(duals, offsets).expansions
    for side in SIDES:
        heard = (expansions[side] + offsets[side])[:, used[side]].max(axis=1)
        for j in np.flatnonzero(~used[side]):
            offsets[side][j] = float((heard - expansions[side][:, j]).min()) - _SILENT
    return offsets
