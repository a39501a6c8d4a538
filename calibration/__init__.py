"""From pixels to millimetres and colours: lens, mats, palette, and whether a rig is fit to judge."""
