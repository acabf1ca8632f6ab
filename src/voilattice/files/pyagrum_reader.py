"""The process that reads a network file with pyAgrum and writes it as BIF.

``python -m voilattice.files.pyagrum_reader SOURCE RESULT MEMORY_BYTES`` ends with status 0, or
with status 1 and pyAgrum's message on standard error. `files.networks` explains why this is a
separate process.
"""

from __future__ import annotations

import sys
from pathlib import Path

from voilattice.files.bif import to_bif
from voilattice.model.network import Network


def main(source: str, result: str, memory_bytes: str) -> None:
    """Read `source` with pyAgrum and write it to `result` as BIF."""
    try:
        import resource
    except ImportError:  # Windows has no memory limit; the parent still limits the time
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (int(memory_bytes), int(memory_bytes)))

    import pyagrum

    if source.endswith(".o3prm"):
        import pyagrum.prm
    try:
        network = Network.from_pyagrum(pyagrum.loadBN(source))
    except Exception as error:  # the parent reports every error
        sys.exit(str(error) or type(error).__name__)
    Path(result).write_text(to_bif(network), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
