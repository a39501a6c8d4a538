"""The dashboard: a Flask app over one session, and the server that runs it beside the devices."""

from referee.web.app import create_app
from referee.web.server import Server, serve

__all__ = ["Server", "create_app", "serve"]
