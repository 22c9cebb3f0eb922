"""Experiments: data, matches, sweeps, tuning, analysis and reports."""
