"""Makes releases of the sources, and is not part of them. `python -m release --help` shows the options."""
