"""Models on disk: saved without pickles, loaded without running anything from the file."""
