"""Sees both builds, judges them, times the presses, runs the match."""
