"""The bounds that the server sets, checked here too so that a mistake is noticed where it is made."""

from __future__ import annotations

#: Longest name of a queue or a kind, in bytes.
NAME_BYTES = 128
#: Largest payload, in bytes of JSON text.
PAYLOAD_BYTES = 1 << 20
#: Largest result; a larger one ends the attempt as fatal.
RESULT_BYTES = 1 << 20
#: Longest error text; longer ones are cut.
ERROR_BYTES = 64 << 10
#: Log text kept of one attempt: the last so many bytes.
LOG_BYTES = 64 << 10
#: A longer line of a log is cut.
LINE_BYTES = 16 << 10
#: Longest note of a progress message; longer ones are cut.
NOTE_BYTES = 1 << 10
#: Deepest nesting of JSON in a payload.
JSON_DEPTH = 64
#: Most jobs in one batch.
BATCH_JOBS = 1_000
#: Most results in one message to the server.
RESULTS_PER_MESSAGE = 64
#: Results of one message together, unless a single one is larger.
MESSAGE_BYTES = 1 << 20
#: Largest message either side sends.
LARGEST_MESSAGE = 8 << 20
#: Most queues or kinds one worker may name.
WORKER_NAMES = 256
#: Most threads of a worker.
THREADS = 1_024
#: Most servers that can be named.
SERVERS = 64


def cut(text: str, most: int) -> str:
    """The beginning of a text, at most so many bytes of UTF-8, never half a character."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= most:
        return raw.decode("utf-8")
    return raw[:most].decode("utf-8", "ignore")
