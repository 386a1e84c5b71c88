"""Rows of a table in blocks, in this process or on a cluster: functions go to the rows, sums come back."""
