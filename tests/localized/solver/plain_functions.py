"""Plain functions to descend: values, gradients and minima are known."""

import numpy as np


class Plain:
    """A function with its gradient; everything that is asked for is written down."""

    def __init__(self, function, slope, project=None):
        self.function, self.slope = function, slope
        self.onto = project or (lambda theta: theta)
        self.asked = []
        self.ceilings = []

    def value(self, theta, ceiling=np.inf):
        self.asked.append(theta.copy())
        self.ceilings.append(ceiling)
        return float(self.function(theta))

    def gradient(self):
        return self.slope(self.asked[-1])

    def project(self, theta):
        return self.onto(theta)

    def snapshot(self):
        return self.asked[-1].copy()

    def describe(self):
        return {"n_asked": len(self.asked)}


def quadratic(scales, shift=0.0, constant=0.0):
    """½ Σ scale (θ − shift)² + constant."""
    scales = np.asarray(scales, float)
    return Plain(
        lambda theta: 0.5 * scales @ (theta - shift) ** 2 + constant, lambda theta: scales * (theta - shift)
    )


def rosenbrock():
    def function(t):
        return (1.0 - t[0]) ** 2 + 100.0 * (t[1] - t[0] ** 2) ** 2

    def slope(t):
        inner = t[1] - t[0] ** 2
        return np.array([-2.0 * (1.0 - t[0]) - 400.0 * t[0] * inner, 200.0 * inner])

    return Plain(function, slope)
