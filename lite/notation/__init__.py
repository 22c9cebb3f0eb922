"""Games as people keep them: CSA, KIF, KI2 and lines of USI moves."""
