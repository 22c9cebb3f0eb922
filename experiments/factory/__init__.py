"""Data factory: self-play, relabelling and expansion on many cores, in folders of shards that survive a kill."""
