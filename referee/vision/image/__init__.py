"""From a frame to evidence: the view of each zone, what its pixels can be, files, the card's marker."""
