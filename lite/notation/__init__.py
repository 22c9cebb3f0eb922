"""Read and write game notations: CSA, KIF, KI2 and lines of USI moves."""
