"""Yeast proteins in two interaction networks, as several studies use them: kernels and functional classes.

K = exp(−beta L), L the normalised Laplacian of a network, for two networks and two values of beta
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

from multikernel.kernels import Network, diffusion_kernel, unit_diagonal
from studies.data import load_data

NETWORKS = ("yeast_string", "yeast_biogrid")
BETAS = (1.0, 3.0)
# The 13 largest top-level classes of the functional catalogue among the proteins of both networks.
CLASSES = {
    "01": "metabolism",
    "02": "energy",
    "10": "cell cycle and DNA processing",
    "11": "transcription",
    "12": "protein synthesis",
    "14": "protein fate",
    "16": "binding",
    "20": "transport",
    "32": "cell rescue and defence",
    "34": "interaction with the environment",
    "40": "cell fate",
    "42": "biogenesis of cellular components",
    "43": "cell type differentiation",
}
SINGLE = {
    "string_1": "STRING, beta = 1",
    "string_3": "STRING, beta = 3",
    "biogrid_1": "BioGRID, beta = 1",
    "biogrid_3": "BioGRID, beta = 3",
}


Array = np.ndarray


def load_networks() -> tuple[list[Network], Array, dict[str, Array]]:
    """Return both networks, whole as they are, the proteins that are in both, and the labels of these.

    Returns
    -------
    networks : list of Network
        In the order of `NETWORKS`.
    proteins : ndarray of shape (n,)
    labels : dict of str to ndarray of shape (n,)
        For each class, 1 where a protein has it.
    """
    first, second = tables = [load_data(name).arrays for name in NETWORKS]
    networks = [
        Network(table["protein_ids"][table["edges"]], table["weights"], nodes=table["protein_ids"])
        for table in tables
    ]
    proteins = np.intersect1d(first["protein_ids"], second["protein_ids"])
    rows = pd.Index(first["protein_ids"]).get_indexer(proteins)
    names = first["label_names"].tolist()
    return networks, proteins, {label: first["Y"][rows, names.index(label)] for label in CLASSES}


@lru_cache(maxsize=1)
def kernels_and_labels() -> tuple[list[Array], dict[str, Array]]:
    """Return the four kernels over the proteins of both networks, and the labels: the same for every unit.

    Returns
    -------
    Ks : list of ndarray of shape (n, n)
        Of unit diagonal, in the order of `SINGLE`.
    labels : dict of str to ndarray of shape (n,)
        For each class, 1 where a protein has it.
    """
    networks, proteins, labels = load_networks()
    Ks = []
    for network in networks:
        A = network.subnetwork(proteins).adjacency
        Ks += [unit_diagonal(diffusion_kernel(A, beta)) for beta in BETAS]
    return Ks, labels
