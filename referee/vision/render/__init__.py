"""Solids drawn back into the picture: silhouettes and overlays."""
