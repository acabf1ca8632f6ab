"""What the server writes to its log: events in a line each, and on demand every request.

A request is told by its route, never by its address, its content or who asked: these may be about
a patient. With ``--log-json`` every line is a JSON object.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from voilattice.documents import Json
from voilattice.web.refusals import place_of

__all__ = ["configure_logs", "log"]

log = logging.getLogger("voilattice.web")


class PlainLines(logging.Formatter):
    """Writes a record as one line, without any value of a request.

    Messages of other packages and of exceptions can quote what was asked. Of these a line has the
    place in the code alone.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return ": ".join(filter(None, (_event(record), _error(record))))


class JsonLines(logging.Formatter):
    """Writes the same as an object of JSON; what is not text is in the record's `fields`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: Json = {
            "time": moment,
            "level": record.levelname.lower(),
            "event": _event(record),
        }
        if error := _error(record):
            line["error"] = error
        return json.dumps(line | getattr(record, "fields", {}))


def _event(record: logging.LogRecord) -> str:
    if record.name == log.name:
        return record.getMessage()
    return f"a message of {record.name} ({record.filename}, line {record.lineno})"


def _error(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    return "" if error is None else place_of(error)


def configure_logs(*, as_json: bool) -> None:
    """Write the log to standard error: warnings alone, or JSON lines with every request too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else PlainLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    log.setLevel(logging.INFO if as_json else logging.WARNING)
