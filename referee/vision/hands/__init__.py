"""Hands before the camera: fists and arms, whose they are, and what they do over a field."""
