"""Residual policy-value networks: the baseline that is searched by PUCT."""
