"""Convert, deduplicate and describe data files: records and game notations."""
