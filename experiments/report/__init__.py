"""One page of runs, and their verification."""
