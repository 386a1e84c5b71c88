"""What two or more families share: the estimator base, SVMs, optimisers, Gram stacks, learned weights.

``estimator`` is the base of all estimators, ``one_kernel`` of those on one kernel; ``inputs`` and
``row_input`` check what they are given, whole or in blocks of rows, ``unlabeled`` puts labelled and
unlabelled points into one table. ``kernel_checks`` says what is wrong with kernels, ``callbacks`` tells
scikit-learn of iterations. ``fitted`` is what predictions are made of, ``decisions`` turns scores into
them; ``about`` is the row in the table of methods. ``folds`` and ``store``: cross-validation, and work that
can be resumed. Numerics: ``weights/`` learns global kernel weights, ``svm/`` has the machines, ``optim/``
loops and sets of weights, ``stack/`` passes over Gram stacks; ``alignment``, ``neighbors`` and ``scatter``
are measures of kernels.
"""
