"""Games without a teacher: a network plays itself, by alpha-beta where nothing else is named."""
