"""Samples that lack views: their kernels are completed, at fit and for new samples.

A sample lacks a view where all columns of the view are missing in its row, or where its row of a ready-made
kernel is NaN. Three steps, each with a file of its own:

- `presence`: which samples have which view. The banks fit kernel, scaling and transforms of each view on the
  rows that have it, and yield 0 wherever one of two samples lacks it.
- `filling`: what is put in the place of these zeros. A filling is fitted on the training stack,
  which it completes in place, and completes rows of new samples with what it kept:

  ======== =======================================================================================
  zero     nothing; whoever learns the weights makes up for it (``missing="renormalise"``)
  mean     φ_m of a sample that lacks view m is the mean of φ_m over those that have it
  mutual   its expectation given the other views, by the em algorithm (``missing="complete"``)
  ======== =======================================================================================

- `bank`: `CompletedBank`, a bank around a bank, which estimators use as any other.

Every completed training stack is positive semidefinite, and a training sample that comes back as a new one
has the row that it had at fit.
"""
