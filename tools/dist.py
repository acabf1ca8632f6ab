"""Build the sdist and the wheel, check them, and try each in a bare environment of its own.

``make dist`` runs it. Each archive must hold every file that it should; the wheel, which is built
from the sdist, must pass ``twine check``. Each is installed with nothing but its dependencies, in
the versions of ``requirements.txt``. There it has to answer, and what needs an extra has to say so
in one line. Threads that share what the package keeps have to get the right answers. At last the
extra ``web`` is added, and the server has to answer. ``--python`` tries the wheel with other
interpreters too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PACKAGE = ROOT / "src" / "voilattice"
# What the tests in the sdist need, beside themselves. (Those that read public data sets from a
# folder beside the project are skipped without it.)
NEEDED_BY_TESTS = ("tests", "docs", "examples", "benchmarks", "tools", ".github")
SECONDS = 300  # for one command
SECONDS_OF_THREADS = 2.0  # for each scenario of tests/test_threads.py

# Everything that is public is imported, and nothing but NumPy comes with it.
IMPORTS = """
import sys, voilattice
for name in voilattice.__all__:
    getattr(voilattice, name)
found = {name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
print(sorted(name for name in found if not name.startswith("_")))
"""
HELP = """
from click.testing import CliRunner
from voilattice.cli.group import COMMANDS, cli
for name in COMMANDS:
    found = CliRunner().invoke(cli, [name, "--help"])
    assert found.exit_code == 0 and COMMANDS[name][1][:40] in found.output, (name, found.output)
print(len(COMMANDS))
"""
# Without an extra: the command, and its one line.
LACKING = (
    ("serve", 'serve needs FastAPI: pip install "voilattice[web]"'),
    (
        "learn cases.csv --target smoke -o learned",
        'learning from a table needs scikit-learn: pip install "voilattice[learn]"',
    ),
    (
        "evaluate cases.csv --target smoke --costs none.toml",
        'learning from a table needs scikit-learn: pip install "voilattice[learn]"',
    ),
    (
        "arena --data . --out arena",
        'the arena needs scikit-learn: pip install "voilattice[arena]"',
    ),
    ("reproduce --out paper", 'reproduce needs scikit-learn: pip install "voilattice[arena]"'),
    (
        "compare asia --emc 0:200:100 --plot plot.svg",
        '--plot: needs matplotlib: pip install "voilattice[plots]"',
    ),
    (
        "compare asia --emc 0:200:100 --dask local:2",
        '--dask: needs Dask (the package distributed): pip install "voilattice[dask]"',
    ),
    (
        "apply asia cases.parquet",
        'cases.parquet: reading Parquet needs pyarrow: pip install "voilattice[parquet]"',
    ),
    (
        "policy asia --policy optimal --engine cuda",
        "the engine 'cuda' needs CuPy: pip install \"voilattice[gpu]\"",
    ),
    (
        "show other.toml",
        'other.toml: network.file: network.jgum: reading .jgum needs pyAgrum: '
        'pip install "voilattice[networks]"',
    ),
)  # fmt: skip
FILES = {
    "cases.csv": "asia,smoke,tub,xray,bronc,dysp\nno,yes,no,yes,no,yes\nno,no,no,no,no,no\n",
    "cases.parquet": "",
    "network.jgum": "",
    "other.toml": '[network]\nfile = "network.jgum"\ntarget = "Y"\n[costs]\n[misclassification]\n'
    'kind = "symmetric"\nexpected = 1\n',
}


class Environment:
    """A bare environment, with one archive in it."""

    def __init__(self, folder: Path, python: str, archive: Path) -> None:
        self.folder = folder
        self.python = folder / "env" / "bin" / "python"
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        for name, text in FILES.items():
            (self.work / name).write_text(text)
        subprocess.run([python, "-m", "venv", "--without-pip", folder / "env"], check=True)
        # pip keeps what it built from an sdist, by its address: this one is new each time.
        self.archive = Path(shutil.copy(archive, folder))
        self.install()

    def install(self, extra: str = "") -> None:
        """Install the archive, or what its extra adds."""
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        pip += ["--python", str(self.python)]
        wanted = f"voilattice{f'[{extra}]' if extra else ''} @ {self.archive.as_uri()}"
        done = subprocess.run(
            [*pip, "install", "--no-compile", "-c", ROOT / "requirements.txt", wanted],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            sys.exit(f"{wanted}: cannot be installed\n{done.stderr}")
        subprocess.run([*pip, "check"], check=True, stdout=subprocess.DEVNULL)

    def run(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run the interpreter, away from the sources; anything but the status is an error."""
        done = subprocess.run(
            [str(self.python), "-P", *arguments], cwd=self.work, env=clean_environment(),
            capture_output=True, text=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode != status or "Traceback" in done.stderr:
            sys.exit(f"{arguments}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def voilattice(self, arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run the command, by the script that was installed."""
        return self.run(str(self.python.parent / "voilattice"), *arguments.split(), status=status)


def clean_environment() -> dict[str, str]:
    """Return the environment without what would lead Python elsewhere."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}


def main() -> None:
    """Build, check, try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", nargs="*", default=[], help="other interpreters to try")
    others: list[str] = parser.parse_args().python
    start = time.monotonic()
    wheel, sdist = build()
    check_files(wheel, sdist)
    print(f"built and checked: {time.monotonic() - start:.0f} s", flush=True)
    tries = [(sys.executable, wheel), (sys.executable, sdist)]
    tries += [(python, wheel) for python in others]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        folders = [Path(folder, str(k)) for k in range(len(tries))]
        for line in pool.map(lambda place, one: try_archive(place, *one), folders, tries):
            print(line, flush=True)
    print(f"dist: {time.monotonic() - start:.0f} s in all")


def build() -> tuple[Path, Path]:
    """Return a wheel and the sdist that it was built from."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist], check=True)
    return wheel, sdist


def check_files(wheel: Path, sdist: Path) -> None:
    """End if a file is missing: of the package, or of what its tests need."""
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    want = {f"voilattice/{name}" for name in list_files(PACKAGE)}
    complain(wheel, want - held, {name for name in held - want if ".dist-info/" not in name})
    for part in (
        "py.typed",
        "compiled/plain.cu",
        "web/static/index.html",
        "problems/asia/network.bif",
    ):
        complain(wheel, {f"voilattice/{part}"} - held, set())
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    want = {f"src/voilattice/{name}" for name in list_files(PACKAGE)}
    for folder in NEEDED_BY_TESTS:
        want |= {f"{folder}/{name}" for name in list_files(ROOT / folder)}
    want |= {
        p.name for p in ROOT.iterdir() if p.suffix in {".md", ".toml", ".txt", ".cff", ".yaml"}
    }
    complain(sdist, want - held, set())


def list_files(folder: Path) -> set[str]:
    """Return the files below a folder that git does not ignore."""
    ignored = re.compile(r"(^|/)(__pycache__|\.[^/]*_cache|jupyter_execute)(/|$)")
    found = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    return {name for name in found if not ignored.search(name)}


def complain(archive: Path, missing: set[str], foreign: set[str]) -> None:
    """End if files are missing, or should not be there."""
    if missing or foreign:
        sys.exit(
            f"{archive.name}: missing {sorted(missing)}, should not be there {sorted(foreign)}"
        )


def try_archive(folder: Path, python: str, archive: Path) -> str:
    """Return how an archive did in a bare environment; end if it did not do what it should."""
    start = time.monotonic()
    bare = Environment(folder, python, archive)
    installed = time.monotonic() - start
    version = re.search(r"voilattice-([^-]+?)(-|\.tar)", archive.name)
    assert version is not None
    expect(bare.voilattice("--version").stdout.strip(), f"voilattice {version[1]}")
    expect(bare.run("-c", IMPORTS).stdout.strip(), "['numpy', 'voilattice']")
    bare.run("-c", HELP)
    value = json.loads(bare.voilattice("value figure1 --features X1,X2 --json").stdout)
    expect(round(value["evi"], 9), 5.4)
    policy = json.loads(bare.voilattice("policy asia --policy optimal --json").stdout)
    expect((policy["exact"], round(policy["savings"], 2)), (True, 47.54))
    expect(json.loads(bare.voilattice("apply asia cases.csv --json").stdout)["rows"], 2)
    bare.voilattice("report asia --out report.html")
    expect("asia" in (bare.work / "report.html").read_text("utf-8"), True)
    for arguments, line in LACKING:
        done = bare.voilattice(arguments, status=2)
        expect((done.stdout, done.stderr), ("", f"{line}\n"))
    expect({path.name for path in bare.work.iterdir()}, {*FILES, "report.html"})
    bare.run(str(ROOT / "tests" / "test_threads.py"), str(SECONDS_OF_THREADS))
    bare.install("web")
    serve(bare)
    seconds = time.monotonic() - start
    name = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout.strip()
    return f"{archive.name}, {name}: fine ({installed:.0f} s to install, {seconds:.0f} s in all)"


def serve(bare: Environment) -> None:
    """End unless the server answers."""
    server = subprocess.Popen(
        [str(bare.python.parent / "voilattice"), "serve", "--port", "0", "--workers", "2"],
        cwd=bare.work, env=clean_environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        said = server.stdout.readline()
        found = re.search(r"(http://\S+?)/ ", said)
        if found is None:
            sys.exit(f"serve: said {said!r}")
        with urllib.request.urlopen(f"{found[1]}/health", timeout=SECONDS) as answer:
            expect(answer.status, 200)
        with urllib.request.urlopen(f"{found[1]}/", timeout=SECONDS) as answer:
            expect("<title" in answer.read().decode(), True)
    finally:
        server.terminate()
        server.wait()


def expect(found: object, wanted: object) -> None:
    """End if something is not as it should be."""
    if found != wanted:
        sys.exit(f"found {found!r}, expected {wanted!r}")


if __name__ == "__main__":
    main()
