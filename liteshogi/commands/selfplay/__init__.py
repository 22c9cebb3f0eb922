"""Self-play games, by alpha-beta unless another kind is named."""
