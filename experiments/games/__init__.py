"""Games of this engine in process: what matches, self-play and tuning share."""
