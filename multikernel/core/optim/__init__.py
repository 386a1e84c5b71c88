"""``loop`` (bookkeeping, gaps, line search), ``weight_sets``, ``simplex``, ``psd_pair``, ``cone``."""
