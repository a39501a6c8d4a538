"""The dashboard: a Flask app over one session, and the server that runs it beside the devices."""
