"""Judges: the papers' programs written down literally, for general solvers, and algorithms that lose to ours.

Beside the package and not part of it: tests, benchmarks and studies import it, to check and to time what
``multikernel`` computes. The package itself never does.

``optimum``   the optimum of any program written in cvxpy, by Clarabel, as tightly as it can be had
``conic``     kernel matrices, alignment, discriminant analysis and projections of mixtures by Clarabel
``diagonal_discriminant``  the approximation (37) of Ye et al. (2007) of the discriminant program
``kernel_mixture``  the mixture of kernel Gaussians of largest likelihood, the rival of Lewis et al. (2006)
``margin_gap``  the duality gap of fitted margin machines and ridge regressions, with NumPy alone
``programs``  the published programs (LMI, QCQP, SOCP, QP) for CVXOPT, cvxpy, Clarabel and SDPA
"""
