"""Selection: what can be said of a kernel, or a family of them, before new points are seen."""
