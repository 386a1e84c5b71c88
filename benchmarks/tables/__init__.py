"""Accuracy on tables: our estimators with nothing set against tuned models of other kinds, on the same folds.

``make bench-tables`` (``python -m benchmarks.tables``) measures, and writes docs/benchmarks/tables.md.

Protocol
--------
- Five repetitions of two-fold cross-validation, shuffled with the number of the repetition as the seed;
  stratified by class, plain folds for regression.
- At most 2000 training rows and 2000 test rows in a fold; the rows beyond are left out at random, by a seed
  made of the set, the repetition and the fold. All contestants see the same rows.
- Everything that is learned is learned on the training rows: scales of columns, widths, parameters. Searches
  have five inner folds (three for boosted trees), no more than the smallest class has rows.
- Each set belongs to one half. The *choosing* half may be looked at while defaults are designed; what is
  claimed is claimed of the *confirming* half. The half follows from the name: the first byte of its sha256,
  even is choosing, odd is confirming. Six sets were looked at before the rule was written down, and are
  choosing sets whatever their name says (`benchmarks.tables.sets.CHOOSING`). Regression sets all confirm.
- Scores: accuracy, log-loss and area under the ROC curve (mean over the classes of one against the rest) for
  classification, R² for regression. Areas need scores only. Contestants without probabilities are calibrated
  for the log-loss by a sigmoid on out-of-fold scores (five more fits, whose time is not counted).
- Time is the CPU time of ``fit`` on one thread, searches included, compilation not.
- A fit that raises an exception, takes more than the limit of time or ends its process is kept as a failure
  with its message. It has the last rank on its set, and is a loss of ours where it is ours.

Files
-----
``sets``         the data sets, their halves and folds
``contestants``  on one table, and one measured fit
``views``        contestants on several views of the same samples
``noise``        views of noise beside the real ones: when does learning weights pay?
``running``      processes that fit, and the order of the work
``ranking``      mean ranks, critical difference, paired tests
``claims``       what was asked for, met or missed
``page``         tables and text of the page; ``pictures`` draws
"""
