"""The wire types, generated from the contract by scripts/generate.py."""
