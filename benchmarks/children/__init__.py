"""Programs that a section runs in a process of their own; each prints one line of JSON."""
