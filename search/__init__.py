"""The engine: rules of shogi, evaluation networks, alpha-beta and PUCT search, and USI.

Requires numba, numpy and safetensors; policy-value networks also require onnxruntime.
"""
