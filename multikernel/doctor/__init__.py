"""What is wrong with these kernels, views or targets? Findings with a remedy each, before anything is fitted."""
