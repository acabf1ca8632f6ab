"""What the server writes to its log: events in a line each, and on demand every request.

A request is told by its route, never by its address, its content or who asked: these may be about
a patient. With ``--log-json`` every line is a JSON object.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from voilattice.documents import Document

__all__ = ["configure_logs", "log"]

log = logging.getLogger("voilattice.web")


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON; what is not text is in the record's `fields`."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line. No traceback: it can quote what was asked."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: Document = {
            "time": moment,
            "level": record.levelname.lower(),
            "event": record.getMessage().strip(),
        }
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line | getattr(record, "fields", {}))


def configure_logs(*, as_json: bool) -> None:
    """Write the log to standard error: warnings alone, or JSON lines with every request too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else logging.Formatter("%(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    log.setLevel(logging.INFO if as_json else logging.WARNING)
