"""Progress on the terminal."""

import sys
from typing import Any

from tqdm import tqdm


class Bar(tqdm):
    """A progress bar on a terminal, nothing in a pipe. It has no watching thread, which would outlive the command."""

    monitor_interval = 0

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **{"file": sys.stderr, "disable": not sys.stderr.isatty(), **how})

    def show(self, done: int, total: int) -> None:
        """Show that so much of so much is done."""
        self.total = total
        self.update(done - self.n)
