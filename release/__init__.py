"""What makes a release of the sources: no part of it. `python -m release` tells how."""
