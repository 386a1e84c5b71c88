"""How far factors of low rank go: `make bench-scale`, beside `make bench` for Gram stacks."""
