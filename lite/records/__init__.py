"""Read and write records of labelled positions: hcpe, hcpe3 and psv; read pack."""
