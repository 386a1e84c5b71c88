"""The sections of the benchmarks of scale: each has ``measure``, ``figures`` and ``tables``."""
