"""An archive judged again by a Dask cluster whose workers need share no disk with this machine, nor with one another.

Frames, deck, rules and palette travel as content, unless the workers can fetch the attempt by its own address. No more
is under way than the workers have hands for: an archive of a terabyte passes through a few hundred megabytes.
"""

from collections.abc import Iterator
from itertools import islice

from referee.recording.address import AttemptSource
from referee.recording.errors import BadAttempt
from referee.review.options import RejudgeOptions
from referee.review.parcel import failed_row, judge_parcel, named_files, pack_attempt

RETRIES = 3
"""How often a task whose worker died is given to another."""

TASKS_PER_THREAD = 3
"""Attempts under way for each thread of a worker: one is judged, one waits there, one travels."""

LEAST_AHEAD = 4

CONNECT_S = 5
"""A scheduler that has not answered by then is not there."""


def on_cluster(todo: dict[str, AttemptSource], options: RejudgeOptions, scheduler: str) -> Iterator[tuple[str, dict]]:
    """Key and row of every attempt, as they come. Raises BadAttempt where there is no scheduler."""
    try:
        from distributed import Client, KilledWorker
        from distributed import as_completed as completed
    except ImportError:
        raise BadAttempt("--scheduler needs the extra 'cluster': pip install 'referee[cluster]'") from None
    try:
        client = Client(scheduler, timeout=f"{CONNECT_S}s", set_as_default=False)
    except OSError as error:
        raise BadAttempt(f"--scheduler {scheduler}: {error}") from None
    named, left = named_files(options), iter(todo.items())
    with client, client.as_current():
        under_way: dict = {}
        coming = completed()

        def send(most: int) -> Iterator[tuple[str, dict]]:
            """Send the next ones; gives those that could not even be read here."""
            for key, source in islice(left, most):
                try:
                    sent = pack_attempt(source, options, named)
                except BadAttempt as error:
                    yield key, failed_row(source, str(error))
                    continue
                future = client.submit(judge_parcel, sent, key=f"rejudge-{key}", retries=RETRIES, pure=False)
                under_way[future] = (key, source)
                coming.add(future)

        while True:
            hands = max(LEAST_AHEAD, TASKS_PER_THREAD * sum(client.nthreads().values()))
            before = len(under_way)
            unread = list(send(max(0, hands - before)))
            yield from unread
            if not under_way:
                if not unread:
                    return
                continue
            future = next(coming)
            key, source = under_way.pop(future)
            try:
                yield key, future.result()
            except KilledWorker as error:
                yield key, failed_row(source, f"{source.address}: {error}")
            future.release()
