"""Numerics: kernel k-means, its spectral relaxations, maximum margin clustering, number of clusters."""
