"""Ours for the projection of kernel mixtures: the interior point method, and SMO with Newton steps."""

from __future__ import annotations

from benchmarks.datasets.mixtures import ProjectionTask
from judges.programs.answers import ProjectionAnswer
from multikernel.nonstationary.solver.projection import Projected
from multikernel.nonstationary.solver.smo import project_smo
from multikernel.nonstationary.solver.working_set import project_interior

OUR_TOL = 1e-8


def solve_interior(task: ProjectionTask) -> ProjectionAnswer:
    """The interior point method with shrinking."""
    return _answer(project_interior(task.projection, tol=OUR_TOL))


def solve_smo(task: ProjectionTask) -> ProjectionAnswer:
    """SMO with Newton steps; it says so if it stalls, and nothing takes its place."""
    return _answer(project_smo(task.projection, tol=OUR_TOL))


def _answer(found: Projected) -> ProjectionAnswer:
    return ProjectionAnswer(found.duals, found.point.offsets, str(found.status.value))
