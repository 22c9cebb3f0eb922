"""The numbers of the search, tuned by games against itself."""
