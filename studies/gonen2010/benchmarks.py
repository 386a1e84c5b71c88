"""The toys of the tables on costs and on the search for them."""

SEED = 2010
N_TOY = 1200
