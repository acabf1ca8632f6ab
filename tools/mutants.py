"""Mutation testing: change one operator or number at a time, and see whether a test fails.

Cosmic Ray makes the mutants; this script runs the tests. Starting pytest takes seconds, and there
are hundreds of mutants. So one process imports the libraries, and forks for each mutant. The child
imports voilattice with the changed source of one module; no file is changed on disk.

`mutants.toml` names the modules, their tests, the operators, and the mutants that are listed with a
reason. A mutant is a line before and after the change. What is done is kept in build/mutants: an
interrupted run goes on where it was. After tests were added, `--survivors` tries those again that
survived: a mutant that a test has killed stays killed.

    python tools/mutants.py                        # all modules; prints what survives, unlisted
    python tools/mutants.py policy.relevance       # some modules
    python tools/mutants.py --write docs/mutants.md
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib.abc
import importlib.util
import json
import math
import os
import random
import resource
import signal
import sys
import tomllib
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build" / "mutants"  # a file a module
WAITS = 20  # a child may wait so many times longer than it may work
MAX_BYTES = 8 << 30  # a mutant may ask for any amount of memory
PRELOADED = ("numpy", "numba", "pytest", "hypothesis.strategies", "click", "rich.console",
             "rich.table", "networkx", "pyagrum", "joblib")  # fmt: skip

KEYS = ("mutants", "killed", "listed", "open")
HEAD = """| module | tried | mutants | killed | listed | open |
| --- | --- | ---: | ---: | ---: | ---: |"""

Span = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one module."""

    operator: str
    occurrence: int
    line: int
    before: str
    after: str
    source: str  # of the whole module

    @property
    def name(self) -> str:
        return f"{self.operator}:{self.occurrence}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutation testing of voilattice.")
    parser.add_argument("modules", nargs="*", help="of mutants.toml; all when none is given")
    parser.add_argument("--write", type=Path, help="write the figures and the list to this file")
    parser.add_argument("--survivors", action="store_true", help="only what survived last time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at once")
    arguments = parser.parse_args()
    config = tomllib.loads((ROOT / "mutants.toml").read_text())
    preload()
    n_open = 0
    for name in arguments.modules or config["modules"]:
        settings = config["modules"][name]
        source = path_of(name).read_text()
        every = list(mutants_of(source, config, settings))
        mutants = sample(every, settings.get("sample"))
        journal = Journal(name, source, settings, len(every), tests_were_added=arguments.survivors)
        if arguments.survivors:
            journal.forget_survivors()
        mutants = [mutant for mutant in mutants if mutant.name not in journal.results]
        if mutants:
            check_tests_pass(name, source, settings)
        for mutant, outcome, seconds in try_mutants(name, mutants, settings, arguments.jobs):
            journal.add(mutant, outcome, seconds)
            if outcome == "survived" and reason_of(config, name, mutant) is None:
                print(
                    f"{name}:{mutant.line} {mutant.operator}\n- {mutant.before}\n+ {mutant.after}",
                    flush=True,
                )
        figures = figures_of(config, name, journal.results)
        n_open += figures["open"]
        print(f"{name}: {figures}", flush=True)
    if arguments.write:
        arguments.write.write_text(report(config, read_journals(config)))
    return 1 if n_open else 0


class Journal:
    """What became of the mutants of one module, in a file: an interrupted run goes on there.

    A result holds for one source of the module and of its tests. With others it begins anew, unless
    tests were only added.
    """

    def __init__(
        self,
        name: str,
        source: str,
        settings: dict[str, Any],
        size: int,
        *,
        tests_were_added: bool = False,
    ) -> None:
        tests = [(ROOT / test).read_text() for test in settings["tests"]]
        self._head = {
            "module": stamp_of(source),
            "tests": stamp_of(*tests, settings.get("select", "")),
            "size": size,
        }
        self._path = RESULTS / f"{name}.json"
        last = json.loads(self._path.read_text()) if self._path.exists() else {}
        same = ["module"] if tests_were_added else ["module", "tests"]
        is_same = all(last.get(key) == self._head[key] for key in same)
        self.results: dict[str, Any] = last["results"] if is_same else {}

    def forget_survivors(self) -> None:
        self.results = {k: r for k, r in self.results.items() if r["outcome"] != "survived"}
        self._write()

    def add(self, mutant: Mutant, outcome: str, seconds: float) -> None:
        self.results[mutant.name] = {
            "line": mutant.line, "before": mutant.before, "after": mutant.after,
            "outcome": outcome, "seconds": round(seconds, 1),
        }  # fmt: skip
        self._write()

    def _write(self) -> None:
        RESULTS.mkdir(parents=True, exist_ok=True)
        text = json.dumps({**self._head, "results": self.results}, indent=1)
        self._path.with_suffix(".new").write_text(text)
        self._path.with_suffix(".new").replace(self._path)


def stamp_of(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def read_journals(config: dict[str, Any]) -> dict[str, Any]:
    """Return the journals of all modules that have one."""
    paths = {name: RESULTS / f"{name}.json" for name in config["modules"]}
    return {name: json.loads(path.read_text()) for name, path in paths.items() if path.exists()}


def preload() -> None:
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    os.chdir(ROOT)
    # A thread of the parent would not live on in a child.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in PRELOADED:
        importlib.import_module(name)


def path_of(name: str) -> Path:
    return ROOT / "src" / "voilattice" / (name.replace(".", "/") + ".py")


def mutants_of(source: str, config: dict[str, Any], settings: dict[str, Any]) -> Iterator[Mutant]:
    """Return the mutants of a module, without those of types, error texts and skipped parts."""
    tree = get_ast(source)
    skipped = list(skipped_spans(source, settings.get("skip", {})))
    lines = source.splitlines()
    seen: set[str] = set()
    for operator in config["operators"]:
        made = get_operator(f"core/{operator}")()
        places = (p for node in ast_nodes(tree) for p in made.mutation_positions(node))
        for occurrence, (start, end) in enumerate(places):
            if any(first <= tuple(start) and tuple(end) <= last for first, last in skipped):
                continue
            changed = mutate(source, operator, occurrence)
            if changed in seen or not is_python(changed):  # a star is no product everywhere
                continue
            seen.add(changed)
            after = changed.splitlines()
            # Cosmic Ray changes one line, or replaces the whole body of a loop's header.
            place = next(k for k, line in enumerate(lines) if line != after[k])
            yield Mutant(
                operator, occurrence, place + 1, lines[place].strip(), after[place].strip(), changed
            )


def mutate(source: str, operator: str, occurrence: int) -> str:
    changed: str = mutate_code(source, get_operator(f"core/{operator}")(), occurrence)
    return changed


def is_python(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def skipped_spans(source: str, names: dict[str, str]) -> Iterator[Span]:
    """Return where no mutants are made: annotations, raised errors, parts named in mutants.toml."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        found: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef):
            found = [node.returns]
            # `/` for `*` among the parameters changes how they are passed, not what is done.
            for k in range(node.lineno, node.body[0].lineno + 1):
                if lines[k - 1].strip() == "*,":
                    yield (k, 0), (k, len(lines[k - 1]))
                elif (star := lines[k - 1].find(" *, ")) >= 0:
                    yield (k, star), (k, star + 3)
            found += [node] if node.name in names else []
        elif isinstance(node, ast.ClassDef):
            found = [node] if node.name in names else []
        elif isinstance(node, ast.arg | ast.AnnAssign):
            found = [node.annotation]
        elif isinstance(node, ast.Raise):
            found = [node]
        elif isinstance(node, ast.Assign):
            target = node.targets[0]
            is_named = isinstance(target, ast.Name) and target.id in names
            found = [node] if is_named else []
        for part in found:
            if part is not None:
                decorators = getattr(part, "decorator_list", [])
                first = min([part.lineno, *(d.lineno for d in decorators)])
                yield (first, 0 if decorators else part.col_offset), (
                    part.end_lineno, part.end_col_offset,
                )  # fmt: skip


def sample(mutants: list[Mutant], size: int | None) -> list[Mutant]:
    """Return some mutants, the same every time, in the order of the source."""
    if size is not None and size < len(mutants):
        mutants = random.Random(0).sample(mutants, len(mutants))[:size]
    return sorted(mutants, key=lambda mutant: (mutant.line, mutant.name))


def check_tests_pass(name: str, source: str, settings: dict[str, Any]) -> None:
    """Check that the tests pass, and set the time for a mutant by the time they take."""
    settings["timeout"] = 600
    unchanged = Mutant("", 0, 0, "", "", source)
    for _ in range(2):  # the second time, all is compiled
        ((_, outcome, seconds),) = try_mutants(name, [unchanged], settings, jobs=1)
        if outcome != "survived":
            sys.exit(f"{name}: its tests fail without a mutant")
    settings["timeout"] = 6 + 3 * math.ceil(seconds)
    print(f"{name}: its tests take {seconds:.1f} s", flush=True)


def try_mutants(
    name: str, mutants: Sequence[Mutant], settings: dict[str, Any], jobs: int
) -> Iterator[tuple[Mutant, str, float]]:
    """Return each mutant, what became of it, and the seconds of its processor, as they end."""
    running: dict[int, Mutant] = {}
    for mutant in mutants:
        if len(running) == jobs:
            yield wait_for(running)
        running[start_tests(name, mutant.source, settings)] = mutant
    while running:
        yield wait_for(running)


def start_tests(name: str, source: str, settings: dict[str, Any]) -> int:
    """Run the tests in a child; return its number."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            os._exit(in_child(name, source, settings))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return child


def wait_for(running: dict[int, Mutant]) -> tuple[Mutant, str, float]:
    """Wait for the next child; return its mutant, "killed", "timeout" or "survived", seconds."""
    child, status, usage = os.wait4(-1, 0)
    seconds = usage.ru_utime + usage.ru_stime
    mutant = running.pop(child)
    if os.WIFSIGNALED(status):
        is_late = os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL)
        return mutant, "timeout" if is_late else "killed", seconds
    return mutant, "killed" if os.WEXITSTATUS(status) else "survived", seconds


def in_child(name: str, source: str, settings: dict[str, Any]) -> int:
    """Run the tests of a module with another source; return their exit status."""
    # The processor's seconds, so that a busy machine kills no mutant; the clock is for sleepers.
    seconds = settings["timeout"]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(WAITS * seconds)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    if not os.environ.get("MUTANTS_VERBOSE"):
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
    sys.meta_path.insert(0, Replaced(f"voilattice.{name}", source))
    # The suite's own profile inherits from this one: no example is shrunk.
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile("mutants", phases=phases, database=None, derandomize=True)
    hypothesis.settings.load_profile("mutants")
    options = ["-x", "-q", "-p", "no:cacheprovider", "-k", settings.get("select", "")]
    return int(pytest.main([*options, *settings["tests"]]))


class Replaced(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a text."""

    def __init__(self, name: str, source: str) -> None:
        self._name, self._source = name, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._source, self._name, "exec"), module.__dict__)


def reason_of(config: dict[str, Any], name: str, mutant: Mutant) -> str | None:
    """Return why a mutant is listed, or None."""
    return listed_reason(config, name, mutant.before, mutant.after)


def listed_reason(config: dict[str, Any], name: str, before: str, after: str) -> str | None:
    for entry in config.get("everywhere", []):
        if before.replace(entry["from"], entry["to"]) == after:
            return str(entry["reason"])
    for entry in config.get("listed", []):
        is_this = entry["module"] == name and entry["before"] == before
        if is_this and after in entry.get("after", [after]):
            return str(entry["reason"])
    return None


def figures_of(config: dict[str, Any], name: str, results: dict[str, Any]) -> dict[str, int]:
    """Return how many mutants there are, were killed, survived and are listed, or are open."""
    count: Counter[str] = Counter()
    for found in results.values():
        listed = listed_reason(config, name, found["before"], found["after"])
        survived = found["outcome"] == "survived"
        count["killed" if not survived else "open" if listed is None else "listed"] += 1
    return {"mutants": len(results), **{key: count[key] for key in ("killed", "listed", "open")}}


def report(config: dict[str, Any], done: dict[str, Any]) -> str:
    """Return the figures, if there are any, and the listed mutants as Markdown."""
    parts = [config["about"].strip(), ""]
    if done:
        parts += [*figures_table(config, done), ""]
    return "\n".join([*parts, *list_mutants(config)]) + "\n"


def figures_table(config: dict[str, Any], done: dict[str, Any]) -> list[str]:
    parts = ["## Figures", "", HEAD]
    for name, settings in config["modules"].items():
        if name in done:
            figures = figures_of(config, name, done[name]["results"])
            size = f"a sample of {done[name]['size']}" if "sample" in settings else "all"
            if done[name].get("module") != stamp_of(path_of(name).read_text()):
                size += ", of an earlier version"
            parts.append(f"| `{name}` | {size} | " + " | ".join(map(str, figures.values())) + " |")
    total = Counter[str]()
    for name in config["modules"]:
        total.update(figures_of(config, name, done.get(name, {"results": {}})["results"]))
    parts.append("| in all | | " + " | ".join(str(total[key]) for key in KEYS) + " |")
    if missing := [f"`{name}`" for name in config["modules"] if name not in done]:
        parts += ["", f"Not tried yet: {', '.join(missing)}."]
    return parts


def list_mutants(config: dict[str, Any]) -> list[str]:
    """Return what mutants.toml lists and leaves out."""
    parts = ["## Listed mutants", ""]
    for entry in config["everywhere"]:
        parts.append(f"- everywhere, `{entry['from']}` → `{entry['to']}`: {entry['reason']}")
    parts.append("")
    for name in config["modules"]:
        rows = [entry for entry in config["listed"] if entry["module"] == name]
        if not rows:
            continue
        parts += [f"### `{name}`", ""]
        for entry in rows:
            becomes = ", ".join(f"`{line}`" for line in entry.get("after", [])) or "any change"
            parts.append(f"- `{entry['before']}` → {becomes}: {entry['reason']}")
        parts.append("")
    parts += ["## Left out", ""]
    for name, settings in config["modules"].items():
        for part, why in settings.get("skip", {}).items():
            parts.append(f"- `{name}`, `{part}`: {why}")
    return parts


if __name__ == "__main__":
    sys.exit(main())
