"""Towers of storeys that sum to nine, with dogs, hammers and thieves. ``door`` is all that others see of it."""
