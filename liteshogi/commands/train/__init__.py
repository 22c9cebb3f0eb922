"""Training commands, one file per kind of network."""
