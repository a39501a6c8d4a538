"""From pixels to millimetres and colours: lens, mats, palette, and whether a rig is fit to judge."""

ZONES = "ABCDEFGHIJKL"
"""The letters of the mats, one a player."""
