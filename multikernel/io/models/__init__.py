"""Models on disk: saved without pickles, loaded without running anything from the file.

`save_model` writes one file, `load_model` reads it, `describe_model` tells what is in it without loading it,
and `ModelFolder` keeps a model together with the record of its fit (``files``). On the way into a file a
model is made slim and of parts that a file can hold (``preparing``), written as a tree of named nodes
(``coding``, ``names``) and put into an archive with a checksum (``archive``). On the way back the tree is
held to what a model needs (``grammar``), and files of earlier versions get present names and attributes
(``names_0_1``, ``upgrades``).
"""

from .archive import ModelFileError, ModelVersionWarning
from .files import ModelFolder, describe_model, load_model, save_model

__all__ = [
    "ModelFileError",
    "ModelFolder",
    "ModelVersionWarning",
    "describe_model",
    "load_model",
    "save_model",
]
