"""A running table: devices, eyes and journal around one match."""
