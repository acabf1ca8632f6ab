"""The process that reads a network file with pyAgrum and writes it as BIF.

``python -m voilattice.files.pyagrum_reader SOURCE RESULT MEMORY_BYTES`` ends with status 0, or
with status 1 and pyAgrum's complaint on standard error. `files.networks` says why it is a
process of its own.
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
    except ImportError:  # Windows: the time limit has to do
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (int(memory_bytes), int(memory_bytes)))

    import pyagrum

    if source.endswith(".o3prm"):
        import pyagrum.prm
    try:
        network = Network.from_pyagrum(pyagrum.loadBN(source))
    except Exception as error:  # whatever it is, the parent reports it
        sys.exit(str(error) or type(error).__name__)
    Path(result).write_text(to_bif(network), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
