"""AlphaZero-style self-play: games of a policy-value network searched by PUCT, for training the next one."""
