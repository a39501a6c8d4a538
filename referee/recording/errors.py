"""Typed faults of recorded attempts."""

from cards.errors import RefereeError


class BadAttempt(RefereeError):
    """An attempt folder, bundle or video that cannot be read, or is not what its hashes say."""
