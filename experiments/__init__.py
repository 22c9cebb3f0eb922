"""What compares and shows: the demo, benchmarks of training, matches."""
