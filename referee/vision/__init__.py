"""From a frame to a verdict: image, search, render, verdict; and the gate that looks at every frame."""
