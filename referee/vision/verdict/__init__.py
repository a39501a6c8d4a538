"""From readings to a ruling with its margin: field, light, decision."""
