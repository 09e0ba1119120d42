"""Data: real images that travel with the book."""
