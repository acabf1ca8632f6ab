"""The commands by name, their help, and how the command line ends."""

import os
import subprocess
import sys

import pytest
from helpers.problems import SURE
from helpers.processes import RUN, process

from voilattice import __version__
from voilattice.cli.group import COMMANDS, cli
from voilattice.errors import InputError

HEAVY = ("pyagrum", "numba", "matplotlib", "pandas", "sklearn", "scipy", "networkx", "tomli_w")


def test_version_and_help(run):
    assert run("--version")[1] == f"voilattice {__version__}\n"
    assert "value" in run("--help")[1]
    assert "Usage" in run()[1]


FILES = {
    "evidence.toml": (
        SURE + '[evidence]\nA = "T"\nB = "F"\n',
        "evidence: A=T, B=F is impossible: its probability is 0 in this network",
    ),
    "prior.toml": (
        SURE.replace("0.5, 0, 0, 0, 0, 0, 0, 0.5", "1, 0, 0, 0, 0, 0, 0, 0"),
        "misclassification.kind: symmetric costs need every class to have a prior probability "
        "between 0 and 1, got 1, 0; give the matrix instead",
    ),
    "price.toml": (SURE.replace("A = 1", "A = -3"), "costs.A: must be >= 0, got -3"),
    "escape.toml": (
        SURE.replace("A = 1", '"\\u001b[31m" = -3'),
        "costs.\\x1b[31m: must be >= 0, got -3",
    ),
    "binary.toml": (b"\x80\x81", "not UTF-8 text (byte 0); save it as UTF-8"),
    "empty.toml": ("", "network: is missing"),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_files_end_with_status_2_and_one_line(run, tmp_path, name):
    content, message = FILES[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, out, err = run("show", path, "--json")
    assert (status, out) == (2, "")
    assert err == f"{path}: {message}\n"


CYCLIC = """network n {}
variable A { type discrete [2] { T, F }; } variable B { type discrete [2] { T, F }; }
probability ( A | B ) { (T) 1, 0; (F) 0, 1; } probability ( B | A ) { (T) 1, 0; (F) 0, 1; }
"""


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (CYCLIC, "the network has a cycle: A -> B -> A"),
        ("not a network", "line 1: expected network, variable or probability, found 'not'"),
    ],
)
def test_a_cyclic_or_unreadable_network_is_named(run, tmp_path, network, message):
    (tmp_path / "n.bif").write_text(network)
    path = tmp_path / "p.toml"
    path.write_text(
        '[network]\nfile = "n.bif"\ntarget = "A"\n[costs]\nB = 1\n'
        '[misclassification]\nkind = "symmetric"\nexpected = 1\n'
    )
    status, out, err = run("show", path)
    assert (status, out) == (2, "")
    assert err == f"{path}: network.file: {tmp_path / 'n.bif'}: {message}\n"


def test_too_much_at_once_names_what_to_do(run, tmp_path):
    variables = [f"X{k}" for k in range(40)]
    text = "network n {} variable Y { type discrete [2] { T, F }; } probability (Y) { table 1, 0; }"
    for name in variables:
        text += f"variable {name} {{ type discrete [2] {{ T, F }}; }}"
        text += f"probability ( {name} | Y ) {{ (T) 0.1, 0.9; (F) 0.8, 0.2; }}"
    (tmp_path / "n.bif").write_text(text)
    prices = "".join(f"{name} = 1\n" for name in variables)
    (tmp_path / "p.toml").write_text(
        f'[network]\nfile = "n.bif"\ntarget = "Y"\n[costs]\n{prices}'
        "[misclassification]\nT = { T = 0, F = 1 }\nF = { T = 1, F = 0 }\n"
    )
    status, out, err = run("value", tmp_path / "p.toml", "--features", ",".join(variables))
    assert (status, out) == (2, "")
    assert "ask for fewer features at once" in err


@pytest.mark.parametrize(
    "code",
    ["import voilattice.model.network", "import voilattice.cli.group as c; c.cli(['value', '-h'])"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code):
    code = f"import atexit, sys; atexit.register(lambda: print(sorted(sys.modules)))\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    assert "'voilattice.model.network'" in loaded
    for module in HEAVY:
        assert f"'{module}'" not in loaded


def test_a_full_disk_is_told_in_one_line():
    code = "from voilattice.cli import main; main(['show', 'asia'])"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"standard output: cannot be written: No space left on device\n"


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_a_closed_output_is_told_in_one_line(closed):
    command = f'exec "$0" -c "{RUN}" show asia {closed}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    said = "standard output: is closed; send it to /dev/null if you do not need it\n"
    assert done.stderr == ("" if "2>" in closed else said)


def test_results_come_where_standard_error_is_closed():
    command = f'exec "$0" -c "{RUN}" best figure1 2>&-'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "best set" in done.stdout


def test_the_help_loads_neither_numpy_nor_rich():
    code = f"import atexit, sys; atexit.register(lambda: print(sorted(sys.modules)))\n{RUN}"
    out, err = process("--help", code=code).communicate()
    assert err == ""
    assert "Commands:" in out
    loaded = out.splitlines()[-1]
    for module in ("numpy", "rich", "voilattice.model", "tomllib"):
        assert f"'{module}'" not in loaded


def test_the_help_lists_each_command_with_the_first_line_of_its_own_help(run):
    context = cli.make_context("voilattice", [], resilient_parsing=True)
    assert list(COMMANDS) == sorted(COMMANDS)
    for name, (_, line) in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command.name == name
        assert command.help.split("\n\n")[0].strip() == line
        assert command.get_short_help_str(1000) == line
    shown = " ".join(run("--help")[1].split())
    assert all(f"{name} {line}" in shown for name, (_, line) in COMMANDS.items())


def test_the_help_spells_abbreviations_out(run):
    for arguments in (("--help",), ("value", "--help")):
        shown = " ".join(run(*arguments)[1].split())
        assert "EMC the expected misclassification cost" in shown
        assert "EVI the expected value of information" in shown


def test_command_names_are_completed():
    environment = os.environ | {
        "_VOILATTICE_COMPLETE": "bash_complete", "COMP_WORDS": "voilattice po", "COMP_CWORD": "1"
    }  # fmt: skip
    out, err = process(env=environment).communicate()
    assert (out.splitlines(), err) == (["plain,policy"], "")


def raising(error):
    def command(*_, **__):
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (
            MemoryError(),
            (2, "", "out of memory; ask for fewer features, or give more evidence\n"),
        ),
        (BrokenPipeError(), (1, "", "")),  # whoever read the output has gone
        (InputError("a\nb", "x"), (2, "", "x: a b\n")),
        (InputError("y" * 2000), (2, "", f"{'y' * 1000}...\n")),
    ],
)
def test_whatever_happens_is_told_in_one_line(run, monkeypatch, error, ending):
    # The streams are given back after the test: one of them is let go.
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr("voilattice.cli.sets.best_set", raising(error))
    assert run("best", "figure1") == ending
