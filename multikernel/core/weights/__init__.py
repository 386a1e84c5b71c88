"""The certified outer loop over kernel weights.

    min_{μ in a weight set} J(μ),  J(μ) = the optimal value of one or more machines on Σ μ_m K_m.

``learn``: entry point for Gram stacks (`learn_weights`); ``loop``: the present weights, duals and
bounds, Newton steps and cutting planes over the weights; ``second``: when the problem goes to the
interior-point method, and what comes back; ``factors/``: the same problem on low-rank factors
of the kernels, rows in blocks (`learn_block_weights`).
"""
