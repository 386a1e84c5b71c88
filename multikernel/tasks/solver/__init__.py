"""Kernel weights of several tasks, coupled by a mixed norm; no scikit-learn."""
