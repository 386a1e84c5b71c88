"""Nonstationary kernel combination: mixtures of kernel Gaussians by maximum entropy discrimination."""
