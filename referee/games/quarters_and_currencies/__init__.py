"""Buildings of six kinds, bought in four currencies. ``door`` is all that others see of it."""
