"""Evidence of additive Gaussian processes, its ascent, and posteriors at new samples."""
