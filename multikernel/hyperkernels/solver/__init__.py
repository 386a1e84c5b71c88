"""The program of hyperkernels: powers of kernels, and cutting planes over their weights."""
