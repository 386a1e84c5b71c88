"""Models on disk: saved without pickles, loaded without running anything from the file.

`save_model` writes one file, `load_model` reads it, `describe_model` tells what is in it without loading it,
and `ModelFolder` keeps a model together with the record of its fit.
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
