"""SIMULATED twins of table, players, operator, camera and box.

Run-time code never imports them; only the composition root (``referee.commands``) does.
"""
