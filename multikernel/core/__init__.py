"""What two or more families share: the estimator base, SVMs, optimisers, Gram stacks, learned weights."""
