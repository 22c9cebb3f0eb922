"""Below everything: how code is compiled and kept, bits, raw memory, files."""
