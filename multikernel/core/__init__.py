"""What two or more families of models share."""
