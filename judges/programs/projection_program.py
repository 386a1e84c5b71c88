"""The projection of kernel mixtures as a quadratic program, for general solvers, in two forms.

* As stated: the duals u_tr alone,  min ½ u'Hu − f'u,  Au = 0,  u ≥ 0,  Σ_r u_tr ≤ C,  with H dense.
* Factored: K_j = Φ_j Φ_j', and the weights w_j = Φ_j' S_j u of the components as variables beside the duals,
  so that the quadratic part is diagonal,  min ½ Σ_j ‖w_j‖² − f'u.  Kernels of low rank have few of them.

S_j u are the coefficients s_t(j) = q_t(j) Σ_r u_tr of the samples of the component's class, and −u_tj of the
others. The multipliers of Au = 0 are the offsets a, and b with the opposite sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.linalg import eigh

from judges.programs.answers import ProjectionAnswer
from judges.programs.tasks import ProjectionTask

FloatArray = NDArray[np.float64]

_NEGLIGIBLE = 1e-11  # eigenvalues below this part of the largest are left out


@dataclass(frozen=True)
class Program:
    """Linear part, constraints and the maps S_j, the positive components first.

    Attributes
    ----------
    linear : array (n_var,), f
    balance : array (2m − 1, n_var), A without its last row, which follows from the others
    totals : sparse array (n, n_var), sums the duals of each sample
    expansions : list of 2m sparse arrays (n, n_var)
    """

    linear: FloatArray
    balance: FloatArray
    totals: scipy.sparse.csr_array
    expansions: list[scipy.sparse.csr_array]


def program_of(task: ProjectionTask) -> Program:
    """Everything but the quadratic part."""
    m, n, rows, q = len(task.kernels), task.y.size, task.rows, task.posteriors
    samples = np.concatenate([np.repeat(rows[0], m), np.repeat(rows[1], m)])
    component = np.tile(np.arange(m), n)
    positive = task.y[samples] > 0
    shares = np.repeat(np.vstack(q), m, axis=0)
    diagonals = np.einsum("mtt->tm", task.kernels)[samples]
    entropy = -(shares * np.log(np.where(shares > 0.0, shares, 1.0))).sum(axis=1)
    places = np.arange(samples.size)
    f = task.margin - entropy + 0.5 * (shares * diagonals).sum(axis=1) - 0.5 * diagonals[places, component]
    expansions = []
    for own in (positive, ~positive):
        for j in range(m):
            values = np.where(own, shares[:, j], -(component == j).astype(float))
            expansions.append(_sparse(values, samples, n))
    signs = np.repeat([1.0, -1.0], m)
    balance = np.array([sign * S.sum(axis=0) for sign, S in zip(signs, expansions, strict=True)])
    return Program(f, balance[:-1], _sparse(np.ones(samples.size), samples, n), expansions)


def _sparse(values: FloatArray, samples: NDArray[np.intp], n: int) -> scipy.sparse.csr_array:
    kept = np.flatnonzero(values)
    return scipy.sparse.csr_array((values[kept], (samples[kept], kept)), shape=(n, values.size))


def quadratic_of(task: ProjectionTask, program: Program) -> FloatArray:
    """H = Σ_j S_j' K_j S_j."""
    H = np.zeros((program.linear.size, program.linear.size))
    for j, S in enumerate(program.expansions):
        H += S.T @ (task.kernels[j % len(task.kernels)] @ S)
    return H


def weights_of(program: Program, features: list[FloatArray]) -> list[FloatArray]:
    """Φ_j' S_j of every component, (rank, n_var)."""
    return [features[j % len(features)].T @ S for j, S in enumerate(program.expansions)]


def features_of(kernel: FloatArray) -> FloatArray:
    """Φ, (n, rank)."""
    values, vectors = eigh(kernel)
    kept = values > _NEGLIGIBLE * values[-1]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def answer_of(task: ProjectionTask, u: FloatArray, multipliers: FloatArray, status: str) -> ProjectionAnswer:
    """Duals within their bounds to rounding, and the offsets."""
    m = len(task.kernels)
    duals = np.maximum(u, 0.0).reshape(-1, m)
    total = duals.sum(axis=1, keepdims=True)
    duals *= np.minimum(1.0, task.C / np.maximum(total, task.C))
    offsets = np.append(multipliers, 0.0) * np.repeat([1.0, -1.0], m)
    n_positive = task.rows[0].size
    return ProjectionAnswer((duals[:n_positive], duals[n_positive:]), (offsets[:m], offsets[m:]), status)
