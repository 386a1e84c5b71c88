"""Nonstationary kernel combination: two mixtures of kernel Gaussians by latent maximum entropy discrimination."""
