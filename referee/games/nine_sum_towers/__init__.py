"""Towers of storeys that sum to nine, with dogs, hammers and thieves. ``table`` state and facts, ``play`` the rules."""
