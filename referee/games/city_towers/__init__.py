"""Towers in six cities. ``door`` is all that others see of it."""
