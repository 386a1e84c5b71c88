"""What is a model worth: `evaluate`, `compare`, what they return and the answers they state."""
