"""Weighted sums of Gram stacks and their adjoints."""
