"""What the command line calls the parameters of the library."""

from voilattice.cli.parameters import option_of
from voilattice.errors import Remedy, TooLargeError


def test_errors_name_options_but_only_those_that_the_command_has(run):
    status, _, err = run("lattice", "asia", "--max-nodes", "3")
    assert status == 2
    assert "raise the budget (--max-nodes), choose fewer features, or give more evidence" in err
    error = TooLargeError("too much", remedies=(Remedy("raise it", "max_states"), Remedy("ask")))
    assert str(error) == "too much; raise it (max_states), or ask"
    assert error.describe(lambda name: option_of(name, {"--json"})) == "too much; ask"
    assert option_of("memory_limit", {"--memory"}) == "--memory"
