"""Event streams, picture streams and the fragments they carry."""
