"""Print what an install downloads: packages and MB, for the core or with extras.

``python tools/install_size.py`` is the core, ``python tools/install_size.py web learn`` is each of
these on top of it. Downloads everything into a folder that is removed again.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def measure(extra: str) -> tuple[int, float]:
    """Return the number of packages that the project needs, and their MB."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = f"{ROOT}[{extra}]" if extra else str(ROOT)
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "download", "--dest", folder, wanted], check=True)
        sizes = [
            path.stat().st_size
            for path in Path(folder).iterdir()
            if not path.name.startswith("voilattice")
        ]
    return len(sizes), sum(sizes) / 1e6


if __name__ == "__main__":
    for extra in sys.argv[1:] or [""]:
        n, size = measure(extra)
        print(f"{extra or 'core':10} {n:3} packages {size:7.1f} MB", flush=True)
