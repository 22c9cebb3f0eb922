"""Data made by the hundred million: jobs on many cores, and folders of shards that no kill can spoil."""
