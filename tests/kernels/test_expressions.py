"""Kernels written as text: what is understood is what the algebra makes, and nothing else is."""

import numpy as np
import pytest

from multikernel.kernels import (
    Chi2,
    Cosine,
    Gaussian,
    Kronecker,
    Laplacian,
    Linear,
    Pairwise,
    Polynomial,
    Sigmoid,
)
from multikernel.kernels.expressions import kernel_names, parse_kernel, parse_kernels


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("linear", Linear()),
        ("Linear()", Linear()),
        (
            " gaussian(gamma='median', scale=2) * polynomial(2) + linear ",
            Gaussian("median", scale=2) * Polynomial(2) + Linear(),
        ),
        ("(linear + cosine) * laplacian(0.5)", (Linear() + Cosine()) * Laplacian(0.5)),
        ("linear + cosine * 3", Linear() + 3 * Cosine()),
        ("2e-1 * (linear ** 3)", 0.2 * Linear() ** 3),
        ("2 * linear ** 3", 2 * Linear() ** 3),
        ("sigmoid(gamma='scale', coef0=-1)", Sigmoid("scale", -1)),
        ("pairwise(linear + chi2(gamma=2))", Pairwise(Linear() + Chi2(2))),
        ("kronecker(linear, chi2(2), split=3)", Kronecker(Linear(), Chi2(2), 3)),
    ],
)
def test_text_means_what_the_algebra_means(text, kernel):
    assert parse_kernel(text) == kernel


def test_what_a_kernel_shows_can_be_read_again():
    kernel = 0.5 * (Gaussian(s=2.0) + Polynomial(3, coef0=0.0)) ** 2 * Cosine()
    assert parse_kernel(repr(kernel)) == kernel


def test_a_list_of_kernels():
    assert parse_kernels("linear, gaussian(scale=2), ") == [Linear(), Gaussian(scale=2)]
    assert parse_kernels("polynomial(2, coef0=0)") == [Polynomial(2, coef0=0)]
    X = np.array([[1.0], [2.0]])
    assert parse_kernels("2 * linear,linear")[0](X).tolist() == [[2.0, 4.0], [4.0, 8.0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("linear + gausian(2)", "'gausian(2)' at character 10: unknown kernel 'gausian'. Did you mean"),
        ("laplace", "unknown kernel 'laplace'. Did you mean 'laplacian'"),
        ("precomputed(linear)", "text cannot hold"),
        ("xyz", "The kernels are chi2, cosine, empiricalmap, gappy, gaussian"),
        ("gaussian(gama=2)", "parameter 'gama'. Did you mean 'gamma'? gaussian has gamma, s, sigma, scale"),
        ("linear(2)", "linear has no parameters"),
        ("gaussian(2, gamma=2)", "multiple values"),
        ("gaussian(s=1, s=2)", "each parameter is given once"),
        ("gaussian(**{})", "each parameter is given once"),
        ("gaussian(gamma=-1)", "gamma must be greater than 0"),
        ("gaussian(gamma=median)", "a text in quotes, such as 'median'"),
        ("gaussian(linear)", "gamma must be a number or a text; got Linear()"),
        ("pairwise(2)", "base must be a kernel"),
        ("kronecker(linear, 2)", "right must be a kernel"),
        ("kronecker(linear, linear, linear)", "split must be a number or a text"),
        ("pairwise", "missing a required argument: 'base'"),
        ("0 * linear", "factor of a kernel must be greater than 0"),
        ("linear ** 0.5", "exponent of a kernel"),
        ("2 * 3 * linear", "multiply the numbers before"),
        ("linear + 1", "'1' at character 10: a kernel was expected"),
        ("linear - cosine", "sums, products, powers"),
        ("linear, cosine", "one kernel was expected"),
        ("'linear'", "without quotes"),
        ("linear)", "character 7"),
        ("", "empty"),
        ("linear +" * 400, "characters at most"),
        ("é + linear", "'é' at character 1"),
        ("__import__('os').system('true')", "only kernels can be called"),
        ("linear.__class__", "only kernels, + * **"),
        ("(lambda: linear)()", "only kernels can be called"),
        ("[linear for x in (1,)]", "only kernels, + * **"),
        ("gaussian(gamma=(9**9)**9)", "a kernel was expected"),
        ("linear ** (9**9)", "a kernel was expected"),
        ("gaussian(f'{1}')", "a parameter must be"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused_with_its_place(text, said):
    with pytest.raises(ValueError) as caught:
        parse_kernel(text)
    assert said in str(caught.value)


def test_only_text_is_read():
    with pytest.raises(TypeError, match="written as text"):
        parse_kernel(2)


def test_every_kernel_with_defaults_can_be_named():
    for name in kernel_names():
        if name not in ("empiricalmap", "kronecker", "pairwise"):
            assert type(parse_kernel(name)).__name__.lower() == name
