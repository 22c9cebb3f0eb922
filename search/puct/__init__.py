"""The PUCT engine: a tree of playouts guided by a policy-value network."""
