"""Networks, and kernels between their nodes."""

from multikernel.kernels.networks.base import NetworkKernel
from multikernel.kernels.networks.dense import diffusion_kernel
from multikernel.kernels.networks.kernels import Diffusion, RandomWalk, RegularizedLaplacian
from multikernel.kernels.networks.network import Network

__all__ = [
    "Diffusion",
    "Network",
    "NetworkKernel",
    "RandomWalk",
    "RegularizedLaplacian",
    "diffusion_kernel",
]
