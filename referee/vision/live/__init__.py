"""What runs at every frame: the gate, its colour table, the annotated live picture."""
