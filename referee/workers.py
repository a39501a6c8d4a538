"""What every worker process does first: it does not outlive the program that it works for.

A pool's workers wait for work on a pipe that they hold open themselves, so the end of a killed parent does not reach
them: without this they stay, and take the cores of whatever is started next.
"""

import multiprocessing
import os
import threading
from multiprocessing.process import BaseProcess


def end_with_parent() -> None:
    """End this process when the one that started it has ended, however that was. Nothing in one that none started."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), name="end with parent", daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    """Wait for the parent's end, and end with it."""
    parent.join()
    os._exit(1)
