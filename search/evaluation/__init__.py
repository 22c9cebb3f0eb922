"""The evaluated network: its form, its files, its sums kept move by move, and the integer kernels."""
