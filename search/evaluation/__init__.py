"""The evaluated network: its arithmetic, its files, its incrementally updated sums, and the integer kernels."""
