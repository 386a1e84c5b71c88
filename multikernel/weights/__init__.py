"""Kernel weights by rules and criteria that need no kernel machine: one small file for each family."""
