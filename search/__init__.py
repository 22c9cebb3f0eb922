"""The engine: rules of shogi, the evaluated network, alpha-beta search and USI. Needs numba, numpy and safetensors."""
