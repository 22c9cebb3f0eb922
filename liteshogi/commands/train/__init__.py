"""Train a network on game records: a kind each, with options and defaults of its own."""
