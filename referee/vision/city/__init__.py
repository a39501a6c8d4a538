"""Stacks of stones on printed city plans: the duel's evidence, read as towers on known sites."""
