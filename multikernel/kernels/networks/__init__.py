"""Networks, and kernels between their nodes."""

from multikernel.kernels.networks.kernels import (
    Diffusion,
    NetworkKernel,
    RandomWalk,
    RegularizedLaplacian,
    diffusion_kernel,
)
from multikernel.kernels.networks.network import Network

__all__ = ["Diffusion", "Network", "NetworkKernel", "RandomWalk", "RegularizedLaplacian", "diffusion_kernel"]
