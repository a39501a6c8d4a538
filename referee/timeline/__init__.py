"""What happened in a recorded duel, read from its video: pieces placed, hands in and out, a fall after Stop.

``strip`` follows each field through the video, ``placed`` finds the pieces, ``fall`` the first motion after
the press; ``story`` puts them together and compares players over a match.
"""

from __future__ import annotations

from referee.timeline.story import Timeline, pace, stored_timeline, timeline

__all__ = ["Timeline", "pace", "stored_timeline", "timeline"]
