"""A recorded duel: the folder that holds it, the recorder that writes it, the video in it.

``folder`` reads and checks what an attempt folder says, ``video`` writes and reads its pictures so that
a crash leaves them playable, ``recorder`` runs beside a duel, ``retention`` keeps the disk from filling.
"""

from referee.recording.folder import Attempt, find_attempts, load_attempt
from referee.recording.recorder import Recorder
from referee.recording.retention import Budget

__all__ = ["Attempt", "Budget", "Recorder", "find_attempts", "load_attempt"]
