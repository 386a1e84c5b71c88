"""Ridge regression on pairs of objects: products of two kernels, without the Gram matrix of the pairs."""
