"""What runs have left behind, on one page."""
