"""What real cameras and careless people do to a picture, drawn by code that shares nothing with vision."""
