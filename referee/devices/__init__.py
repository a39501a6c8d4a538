"""Hardware behind ports: camera, button box, clocks. It imports nothing of the rest but errors."""
