"""Weights for each of many targets: speed beside himalaya, growth with the targets, accuracy.

``python -m benchmarks.targets`` measures what is missing and writes docs/benchmarks/targets.md; ``--only
speed``, ``scale``, ``side_effects`` or ``brain`` takes one part, ``--again PART`` measures it anew. What is
measured is kept in results.jsonl, unit by unit, so that a run that was stopped goes on. Speed needs himalaya
(benchmarks/requirements.txt); side effects are read from the folder that MULTIKERNEL_DATA names.

``data``: kernels and targets; ``speed``, ``scale``, ``accuracy``: what is measured; ``page``: the page.
"""
