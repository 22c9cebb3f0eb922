"""Records of labelled positions: hcpe, hcpe3 and psv, in and out."""
