"""The contestants, one file each. Every one answers with weights and duals, and the judge does the rest."""
