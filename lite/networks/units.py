"""Units of the integers that the search computes with: those of an nn.bin, and the gain of squares and products."""

from __future__ import annotations

from search.evaluation.network import ACTIVATION_LIMIT, SQUARE_SHIFT

SQUARE_GAIN = ACTIVATION_LIMIT / (1 << SQUARE_SHIFT)
"""Square of an activation of 1, as the integers compute it: 127 * 127 / 128 of 127."""
ACTIVATION_SCALE = ACTIVATION_LIMIT
"""Integer of the activation 1, and of the weight 1 in a row, in an nn.bin."""
WEIGHT_SCALE = 64
"""Integer of the weight 1 in hidden layers of an nn.bin."""
OUTPUT_SCALE = 600 * 16
"""Output of one logit in an nn.bin: YaneuraOu's trainer uses 600 per logit, and FV_SCALE is 16."""
