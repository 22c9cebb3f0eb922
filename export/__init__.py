"""A trained network out: fold, quantise, ONNX."""
