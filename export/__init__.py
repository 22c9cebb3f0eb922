"""A trained network out: fold, quantise, ONNX, nn.bin, a C++ header, test vectors."""
