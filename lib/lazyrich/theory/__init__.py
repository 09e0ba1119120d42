"""Solvers with no training: scaling laws, infinite-width kernels, angle laws."""
