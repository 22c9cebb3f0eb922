"""A trained network out: fold, quantise, ONNX, nn.bin, test vectors."""
