"""Functions of several views with a penalty on their differences; no scikit-learn."""
