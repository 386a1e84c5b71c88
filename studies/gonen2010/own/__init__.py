"""Pages of our own beside the thesis: other preparations, other halvings, other searches."""
