"""The networks that are trained, all linear up to their first activation."""
