"""Optimization that the families share: loop bookkeeping, line searches, weight sets, conic programs."""
