"""Numerics: affinities, scatters and directions of one kernel, and the weights of several."""
