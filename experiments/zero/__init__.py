"""Self-play as in AlphaZero: a policy-value network, searched by PUCT, makes what the next one learns from."""
