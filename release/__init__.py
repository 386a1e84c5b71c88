"""What a release needs: the check of its distributions, and the oldest versions that it supports."""
