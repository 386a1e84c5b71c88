"""The picture of a comparison."""
