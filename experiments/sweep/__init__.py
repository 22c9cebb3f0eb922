"""Experiments with networks: a plan names points; each is trained, folded, tested, timed and played."""
