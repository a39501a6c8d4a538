"""Five towers grow, and chips say which will be highest. ``door`` is all that others see of it."""
