"""Kernels between the nodes of a network: functions f(L) of its Laplacian, with f(0) = 1.

    Diffusion               K = exp(−beta L)
    RegularizedLaplacian    K = (I + alpha L)^{−1}
    RandomWalk              K = restart · (I − (1 − restart) D^{−1/2} A D^{−1/2})^{−1}

A node without edges, and a sample that is not in the network, is similar to itself alone, with 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel._validation import check_number
from multikernel.kernels.networks.base import NetworkKernel
from multikernel.kernels.networks.functions import Heat, LaplacianFunction, Resolvent
from multikernel.kernels.networks.network import Network


@dataclass(frozen=True, repr=False)
class Diffusion(NetworkKernel):
    """K = exp(−beta L), L = I − D^{−1/2} A D^{−1/2} or D − A: heat that gets from node to node in time beta.

    A is the network's adjacency matrix and D = diag(A 1). Rows of `X` are names of nodes, one column of
    strings or whole numbers, so that cross-validation takes the right rows and columns of K. The network may
    hold nodes that are no samples: similarity goes through them all the same.

    Parameters
    ----------
    network : Network
    beta : float, default=1.0
        The time, greater than 0: as it grows, farther nodes become similar.
    normalized : bool, default=True
        Whether L = I − D^{−1/2} A D^{−1/2} (hubs count no more than other nodes) or L = D − A.
    absent : "isolated" or "error", default="isolated"
        A sample whose name no node has is like a node without edges: similar to itself alone, with 1. Rows of
        the same unknown name are the same sample. Or it is an error. `fit` refuses rows of which none is in
        the network: their names are of another kind.

    Notes
    -----
    Up to 1000 nodes, L is decomposed once for all kernels of the network, and they share the eigenvectors,
    8 N² bytes. A larger network is never made a matrix of all nodes: of K, only the columns of samples are
    computed, by Chebyshev polynomials of L. The spectral norm of what they leave out is at most 1e-15, so
    that entries are right and eigenvalues not below 0 up to rounding; with the normalised Laplacian they take
    13 products with L for a beta of 1, and 82 for one of 100. 32 N b bytes are in use meanwhile, b between 8
    and 64 columns; columns are kept for the next call, up to 200 MB for each kernel, and when there are more
    samples, nothing is. Copies of a kernel share what is kept, pickles and saved models are without it.

    References
    ----------
    R. I. Kondor and J. Lafferty (2002). Diffusion kernels on graphs and other discrete input spaces.
    A. J. Smola and R. Kondor (2003). Kernels and regularization on graphs.

    Examples
    --------
    >>> network = Network([("a", "b"), ("b", "c")])
    >>> Diffusion(network, beta=0.5)(["a", "b", "c", "d"]).round(2)
    array([[0.65, 0.22, 0.04, 0.  ],
           [0.22, 0.68, 0.22, 0.  ],
           [0.04, 0.22, 0.65, 0.  ],
           [0.  , 0.  , 0.  , 1.  ]])
    """

    network: Network
    beta: float = 1.0
    normalized: bool = True
    absent: str = "isolated"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "beta", check_number("Diffusion beta", self.beta, above=0.0))
        _check_flag("Diffusion normalized", self.normalized)

    @property
    def _of_normalized(self) -> bool:
        return bool(self.normalized)

    @property
    def _function(self) -> LaplacianFunction:
        return Heat(self.beta)


@dataclass(frozen=True, repr=False)
class RegularizedLaplacian(NetworkKernel):
    """K = (I + alpha L)^{−1}, L = I − D^{−1/2} A D^{−1/2} or D − A: all paths, each step at a price.

    f = K y is the function on the nodes that minimises Σ_i (f_i − y_i)² + alpha f'Lf: near y, and smooth
    along edges. With L = D − A, K_ij is also the share of spanning forests with i in the tree of root j.

    Parameters
    ----------
    network : Network
    alpha : float, default=1.0
        The weight of smoothness, greater than 0: as it grows, farther nodes become similar.
    normalized : bool, default=True
        Whether L = I − D^{−1/2} A D^{−1/2} (hubs count no more than other nodes) or L = D − A.
    absent : "isolated" or "error", default="isolated"
        As for `Diffusion`.

    Notes
    -----
    Names, small and large networks and their memory are as for `Diffusion`. The expansion of a large network
    takes about 18 √(1 + alpha b) products with L, where b is 2 for the normalised Laplacian and at most twice
    the largest degree for the other.

    References
    ----------
    A. J. Smola and R. Kondor (2003). Kernels and regularization on graphs.
    P. Chebotarev and E. Shamis (1997). The matrix-forest theorem and measuring relations in small social
    groups.

    Examples
    --------
    >>> network = Network([("a", "b"), ("b", "c")])
    >>> RegularizedLaplacian(network, alpha=1.0, normalized=False)(["a", "b", "c"]) * 8
    array([[5., 2., 1.],
           [2., 4., 2.],
           [1., 2., 5.]])
    """

    network: Network
    alpha: float = 1.0
    normalized: bool = True
    absent: str = "isolated"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", check_number("RegularizedLaplacian alpha", self.alpha, above=0.0))
        _check_flag("RegularizedLaplacian normalized", self.normalized)

    @property
    def _of_normalized(self) -> bool:
        return bool(self.normalized)

    @property
    def _function(self) -> LaplacianFunction:
        return Resolvent(self.alpha)


@dataclass(frozen=True, repr=False)
class RandomWalk(NetworkKernel):
    """K = restart · (I − (1 − restart) D^{−1/2} A D^{−1/2})^{−1}: a random walk that returns to its start.

    A walker who starts at node j goes back to j with probability `restart` at each step, and else along one
    of the edges, chosen by its weight. P_ij, the share of time that is spent at i in the end, is not
    symmetric: hubs are met from everywhere. K is P made symmetric,

        K = D^{−1/2} P D^{1/2},   K_ij = √(P_ij P_ji),

    the geometric mean of both ways. It is positive semidefinite, since it is also (I + alpha L)^{−1} with the
    normalised Laplacian L and alpha = (1 − restart) / restart: `RegularizedLaplacian` in other units. At a
    node without edges, a walker stays there.

    Parameters
    ----------
    network : Network
    restart : float, default=0.5
        The probability of a return, between 0 and 1: as it falls, farther nodes become similar.
    absent : "isolated" or "error", default="isolated"
        As for `Diffusion`.

    Notes
    -----
    Names, small and large networks and their memory are as for `Diffusion`. The expansion of a large network
    takes about 25 / √restart products with L.

    References
    ----------
    J.-Y. Pan, H.-J. Yang, C. Faloutsos and P. Duygulu (2004). Automatic multimedia cross-modal correlation
    discovery.
    S. Köhler, S. Bauer, D. Horn and P. N. Robinson (2008). Walking the interactome for prioritization of
    candidate disease genes.

    Examples
    --------
    >>> network = Network([("a", "b"), ("b", "c")])
    >>> RandomWalk(network, restart=0.5)(["a", "b"]).round(3)
    array([[0.583, 0.236],
           [0.236, 0.667]])
    """

    network: Network
    restart: float = 0.5
    absent: str = "isolated"

    def __post_init__(self) -> None:
        super().__post_init__()
        restart = check_number("RandomWalk restart", self.restart, above=0.0)
        if not restart < 1.0:
            raise ValueError(f"RandomWalk restart must be less than 1; got {self.restart!r}.")
        object.__setattr__(self, "restart", restart)

    @property
    def _function(self) -> LaplacianFunction:
        return Resolvent((1.0 - self.restart) / self.restart)


def _check_flag(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
