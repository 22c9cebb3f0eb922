"""Other USI engines: dialogue through pipes, identity, and searches of single positions."""
