"""The recipe's tables: nets trained on one thing varied at a time, measured, and drawn. See docs/archive/recipe.md."""
