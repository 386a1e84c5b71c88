"""Every method by its name: what it is about, for which targets it learns, and how to make it."""
