"""The benchmark of Ganger beside its peers: what is compared, how it is run, and what is written of it."""
