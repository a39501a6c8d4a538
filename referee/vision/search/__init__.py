"""From evidence to readings: poses, rasterizer, physics, candidates, beam and local search."""
