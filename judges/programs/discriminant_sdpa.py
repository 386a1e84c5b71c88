"""The same semidefinite program, balanced, by SDPA without a modelling layer."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from judges.programs.answers import DiscriminantAnswer
from judges.programs.discriminant_program import (
    answer_of_shares,
    inequalities,
    members_of,
    shares_of_unknowns,
)
from judges.programs.tasks import DiscriminantTask

_OPTIONS = {"print": "no", "numThreads": 1, "epsilonStar": 1e-7, "epsilonDash": 1e-7}


def solve_sdpa(task: DiscriminantTask) -> DiscriminantAnswer:
    """The unknowns are the multipliers y of SDPA's standard form: max b'y, c − A'y in the cones."""
    import sdpap  # here, because the tests do without it

    members = members_of(task)
    form = inequalities(members, balanced=True)
    unknowns, size = form.cost.size, len(form.constant)
    rows = np.hstack([form.signs.T, -form.linear.reshape(unknowns, -1)])
    _, y, told, _, _ = sdpap.solve(
        sparse.csc_matrix(rows),
        sparse.csc_matrix(-form.cost[:, None]),
        sparse.csc_matrix(np.concatenate([form.limits, form.constant.ravel()])[:, None]),
        sdpap.SymCone(l=form.limits.size, s=(size,)),
        sdpap.SymCone(f=unknowns),
        dict(_OPTIONS),
    )
    x = np.asarray(y.todense() if sparse.issparse(y) else y, dtype=np.float64).ravel()
    return answer_of_shares(members, task, shares_of_unknowns(x, True), str(told["phasevalue"]))
