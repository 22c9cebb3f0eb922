"""Pictures, HTML pages and Markdown tables."""
