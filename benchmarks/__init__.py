"""The engine beside its peers: `python -m benchmarks [stages]`, or `make bench`."""
