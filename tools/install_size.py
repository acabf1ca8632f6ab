"""Print what an install downloads: packages and MB, for the core or with extras.

``python tools/install_size.py core web learn``: the core, and each of these extras with it.
Everything is downloaded into a folder that is removed again.
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
        wanted = str(ROOT) if extra == "core" else f"{ROOT}[{extra}]"
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "download", "--dest", folder, wanted], check=True)
        sizes = [
            path.stat().st_size
            for path in Path(folder).iterdir()
            if not path.name.startswith("voilattice")
        ]
    return len(sizes), sum(sizes) / 1e6


if __name__ == "__main__":
    for extra in sys.argv[1:] or ["core"]:
        n, size = measure(extra)
        print(f"{extra:10} {n:3} packages {size:7.1f} MB", flush=True)
