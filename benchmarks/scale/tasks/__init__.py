"""What is measured in a process of its own; each module has ``take``, which returns a record."""
