"""The projection by the steps of Lewis et al. (2006) in the printed order: SMO, and Newton steps in between.

Sections 3.1 and 3.2 have the steps along two samples, section 3.3 interleaves a second-order step over the
working set, of which no more is printed; here it is one on the duals that are not zero. The package takes two
sweeps and then Newton steps with an active set to the end. The printed order is slower, and may stop short of
the optimum, as SMO alone does.
"""

from typing import NamedTuple

import numpy as np

from multikernel.nonstationary.solver.components import State, dual_value, rescore, setting_of, start_of
from multikernel.nonstationary.solver.face import face_of
from multikernel.nonstationary.solver.newton import settle
from multikernel.nonstationary.solver.projection import Projection
from multikernel.nonstationary.solver.smo import kinships, sweeps

_NO_GAIN = 1e-12  # relative: a round that gains less is the last


class Ascended(NamedTuple):
    """Where the steps ended: the dual value, the rounds they took, and the state with the duals."""

    value: float
    n_rounds: int
    state: State


def ascend_by_steps(
    projection: Projection, *, newton: bool, n_sweeps: int = 1, max_rounds: int = 2000
) -> Ascended:
    """Take rounds of sweeps, each followed by a Newton step on the duals that are not zero, if asked for.

    Parameters
    ----------
    projection : Projection
        Of mode "qp" or "hard".
    newton : bool
        Whether the second-order step of section 3.3 follows the sweeps of a round.
    n_sweeps : int
        Over all samples, in each round.
    max_rounds : int

    Returns
    -------
    Ascended
    """
    setting = setting_of(projection)
    state, kin = start_of(setting), kinships(setting)
    multipliers = np.zeros(setting.kernels.size)
    value, n_rounds, is_rising = -np.inf, 0, True
    while is_rising and n_rounds < max_rounds:
        n_rounds += 1
        sweeps(setting, state, kin, n_sweeps)
        if newton:
            rescore(setting, state)
            settle(setting, state, face_of(setting), multipliers)
        rescore(setting, state)
        before, value = value, dual_value(setting, state)
        is_rising = value - before > _NO_GAIN * (1.0 + abs(value))
    return Ascended(float(value), n_rounds, state)
