"""Games between engines through ShogiArena."""
