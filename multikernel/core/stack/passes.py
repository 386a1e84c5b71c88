"""Compiled passes over a stack of Gram matrices.

A stack ``Ks`` has shape (n_kernels, n, n), float64 or float32, kernels first. Its size is what makes
multiple kernel learning slow (memory traffic, not arithmetic), so every pass does as much as it can with
what it reads: it combines rows (``Kc = Σ_m w_m K_m``) and applies the adjoint (``F_m = K_m β``) together.
All sums are accumulated in float64, in an order that depends on the input alone.
"""

import numpy as np

from ..._numba import compiled
from ..._typing import Array


@compiled
def combine_row(Ks: Array, active: Array, weights: Array, i: int, out: Array) -> None:
    """``out = Σ_{m in active} weights[m] Ks[m, i]``, two kernels at a time."""
    n = out.size
    if active.size == 0:
        out[:] = 0.0
        return
    w = weights[active[0]]
    row = Ks[active[0], i]
    for t in range(n):
        out[t] = w * row[t]
    k = 1
    while k + 2 <= active.size:
        w = weights[active[k]]
        row = Ks[active[k], i]
        w2 = weights[active[k + 1]]
        row2 = Ks[active[k + 1], i]
        for t in range(n):
            out[t] += w * row[t] + w2 * row2[t]
        k += 2
    if k < active.size:
        w = weights[active[k]]
        row = Ks[active[k], i]
        for t in range(n):
            out[t] += w * row[t]


@compiled
def gated_row(Ks: Array, sources: Array, gates: Array, i: int, out: Array) -> None:
    """``out = Σ_m gates[m, i] gates[m] ∘ Ks[sources[m], i]``: a row of the locally combined kernel.

    Two gates at a time, as far as they go.
    """
    k = sources.size % 2
    if k:
        here = gates[0, i]
        gate = gates[0]
        row = Ks[sources[0], i]
        for t in range(out.size):
            out[t] = here * gate[t] * row[t]
    else:
        out[:] = 0.0
    while k < sources.size:
        here = gates[k, i]
        gate = gates[k]
        row = Ks[sources[k], i]
        here2 = gates[k + 1, i]
        gate2 = gates[k + 1]
        row2 = Ks[sources[k + 1], i]
        for t in range(out.size):
            out[t] += here * gate[t] * row[t] + here2 * gate2[t] * row2[t]
        k += 2


@compiled
def factor_row(Z: Array, i: int, out: Array) -> None:
    """``out = Z[:, i]'Z``: a row of a kernel of low rank, from its factor (r, n), four rows at a time."""
    last = Z.shape[0] - 1
    out[:] = 0.0
    for k in range(0, last + 1, 4):
        z0, z1, z2, z3 = Z[k], Z[min(k + 1, last)], Z[min(k + 2, last)], Z[min(k + 3, last)]
        a0 = z0[i]
        a1 = z1[i] if k < last else 0.0
        a2 = z2[i] if k + 1 < last else 0.0
        a3 = z3[i] if k + 2 < last else 0.0
        for t in range(out.size):
            out[t] += a0 * z0[t] + a1 * z1[t] + a2 * z2[t] + a3 * z3[t]


@compiled
def gated_rows(
    Ks: Array, sources: Array, gates: Array, factor: Array, rows: Array, Kc: Array, valid: Array
) -> int:
    """Fill the rows of the locally combined ``Kc`` that are asked for and not yet valid.

    ``factor`` (r, n) is that of ``Kc`` where it has a short one, else empty.
    """
    formed = 0
    for r in range(rows.size):
        i = rows[r]
        if not valid[i]:
            if factor.shape[0]:
                factor_row(factor, i, Kc[i])
            else:
                gated_row(Ks, sources, gates, i, Kc[i])
            valid[i] = True
            formed += 1
    return formed


@compiled
def support_products(K: Array, rows: Array, U: Array, out: Array) -> None:
    """``out[k] = K[rows, rows] U[k]``; every row is read once for all k."""
    part = np.empty(rows.size)
    for a in range(rows.size):
        row = K[rows[a]]
        for b in range(rows.size):
            part[b] = row[rows[b]]
        for k in range(U.shape[0]):
            u = U[k]
            total = 0.0
            for b in range(rows.size):
                total += part[b] * u[b]
            out[k, a] = total


@compiled
def combine_rows(
    Ks: Array, active: Array, weights: Array, shift: Array, rows: Array, Kc: Array, valid: Array
) -> int:
    """Fill the rows of ``Kc`` that are asked for and not yet valid; returns how many were formed.

    ``shift`` is added on the diagonal (the ridge of the squared losses).
    """
    formed = 0
    for r in range(rows.size):
        i = rows[r]
        if not valid[i]:
            combine_row(Ks, active, weights, i, Kc[i])
            Kc[i, i] += shift[i]
            valid[i] = True
            formed += 1
    return formed


@compiled
def adjoint_rows(
    Ks: Array, kernels: Array, scales: Array, rows: Array, beta: Array, F: Array, reset: bool
) -> None:
    """``F[m] (+)= scales[m] Σ_r beta[r] Ks[m, rows[r]]`` for the kernels asked for; reads those rows only."""
    for k in range(kernels.size):
        m = kernels[k]
        c = scales[m]
        f = F[m]
        if reset:
            f[:] = 0.0
        r = 0
        while r + 4 <= rows.size:
            a0, a1, a2, a3 = Ks[m, rows[r]], Ks[m, rows[r + 1]], Ks[m, rows[r + 2]], Ks[m, rows[r + 3]]
            b0, b1, b2, b3 = c * beta[r], c * beta[r + 1], c * beta[r + 2], c * beta[r + 3]
            for t in range(f.size):
                f[t] += b0 * a0[t] + b1 * a1[t] + b2 * a2[t] + b3 * a3[t]
            r += 4
        while r < rows.size:
            a0 = Ks[m, rows[r]]
            b0 = c * beta[r]
            for t in range(f.size):
                f[t] += b0 * a0[t]
            r += 1


@compiled
def combine_and_adjoint_rows(
    Ks: Array, kernels: Array, scales: Array, weights: Array, rows: Array, beta: Array, Kc: Array, F: Array
) -> None:
    """``Kc[rows] = Σ_m weights[m] K_m[rows]`` and ``F[m] = scales[m] K_m[:, rows] β`` in one read."""
    for k in range(kernels.size):
        F[kernels[k], :] = 0.0
    r = 0
    while r + 4 <= rows.size:
        i0, i1, i2, i3 = rows[r], rows[r + 1], rows[r + 2], rows[r + 3]
        o0, o1, o2, o3 = Kc[i0], Kc[i1], Kc[i2], Kc[i3]
        o0[:] = 0
        o1[:] = 0
        o2[:] = 0
        o3[:] = 0
        for k in range(kernels.size):
            m = kernels[k]
            c = scales[m]
            b0, b1, b2, b3 = c * beta[r], c * beta[r + 1], c * beta[r + 2], c * beta[r + 3]
            a0, a1, a2, a3 = Ks[m, i0], Ks[m, i1], Ks[m, i2], Ks[m, i3]
            f = F[m]
            u = weights[m]
            if u != 0.0:
                for t in range(f.size):
                    o0[t] += u * a0[t]
                    o1[t] += u * a1[t]
                    o2[t] += u * a2[t]
                    o3[t] += u * a3[t]
                    f[t] += b0 * a0[t] + b1 * a1[t] + b2 * a2[t] + b3 * a3[t]
            else:
                for t in range(f.size):
                    f[t] += b0 * a0[t] + b1 * a1[t] + b2 * a2[t] + b3 * a3[t]
        r += 4
    while r < rows.size:
        o0 = Kc[rows[r]]
        o0[:] = 0
        for k in range(kernels.size):
            m = kernels[k]
            b0 = scales[m] * beta[r]
            a0 = Ks[m, rows[r]]
            f = F[m]
            u = weights[m]
            for t in range(f.size):
                o0[t] += u * a0[t]
                f[t] += b0 * a0[t]
        r += 1


@compiled
def quadratic_forms(Ks: Array, kernels: Array, rows: Array, beta: Array, out: Array) -> None:
    """``out[k] = β' K_kernels[k][rows, rows] β``: support rows and columns only, lower triangle only."""
    for k in range(kernels.size):
        Km = Ks[kernels[k]]
        total = 0.0
        for r in range(rows.size):
            row = Km[rows[r]]
            acc = 0.0
            for c in range(r):
                acc += beta[c] * row[rows[c]]
            total += beta[r] * (2.0 * acc + beta[r] * row[rows[r]])
        out[k] = total


@compiled
def dense_adjoint(K: Array, beta: Array, f: Array) -> None:
    """``f = K β`` when most of β is not zero: the lower triangle alone is read, four rows at a time."""
    n = beta.size
    f[:] = 0.0
    for first in range(n % 4 - 4, n, 4):
        r = max(first, 0)
        if first >= 0:
            a0, a1, a2, a3 = K[r], K[r + 1], K[r + 2], K[r + 3]
            b0, b1, b2, b3 = beta[r], beta[r + 1], beta[r + 2], beta[r + 3]
            s0 = s1 = s2 = s3 = 0.0
            for t in range(r):
                s0 += a0[t] * beta[t]
                s1 += a1[t] * beta[t]
                s2 += a2[t] * beta[t]
                s3 += a3[t] * beta[t]
                f[t] += b0 * a0[t] + b1 * a1[t] + b2 * a2[t] + b3 * a3[t]
            f[r] += s0
            f[r + 1] += s1
            f[r + 2] += s2
            f[r + 3] += s3
        for i in range(r, first + 4):  # these rows among themselves
            for t in range(r, i):
                f[i] += K[i, t] * beta[t]
                f[t] += K[i, t] * beta[i]
            f[i] += K[i, i] * beta[i]


@compiled
def gather_block(Kc: Array, rows: Array, out: Array) -> None:
    """``out = Kc[rows][:, rows]``."""
    for r in range(rows.size):
        source = Kc[rows[r]]
        target = out[r]
        for c in range(rows.size):
            target[c] = source[rows[c]]


@compiled
def gather_stack(Ks: Array, rows: Array, out: Array) -> None:
    """``out[m] = Ks[m][rows][:, rows]``: the stack of a subset of the samples."""
    for m in range(Ks.shape[0]):
        gather_block(Ks[m], rows, out[m])
