"""Paired tests and intervals: numbers in, verdicts out; they know no model."""
