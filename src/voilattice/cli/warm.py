"""The command that compiles all kernels before they are needed."""

from __future__ import annotations

import time

import click

__all__ = ["warm_command"]


@click.command(name="warm")
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many processes compile at once.  [default: one a core]",
)
def warm_command(processes: int | None) -> None:
    """Compile all inner loops now, so that no later command waits for it.

    Without it, each inner loop is compiled when there is enough work for it, which takes some
    seconds, once. The code is kept in the folder NUMBA_CACHE_DIR, beside the package, or, if that
    cannot be written, in a folder of the user.
    """
    from voilattice.kernel_cache import find_cache_folder
    from voilattice.warming import warm
    from voilattice.wording import count_noun

    begin = time.monotonic()

    def tell(loop: str, n_done: int, n_loops: int) -> None:
        seconds = time.monotonic() - begin
        click.echo(f"warm: {loop} is compiled, {n_done} of {n_loops}, {seconds:.0f} s", err=True)

    n_loops = warm(processes, tell)
    what = f"compiled {count_noun(n_loops, 'inner loop')}" if n_loops else "nothing to compile"
    click.echo(f"{what} in {time.monotonic() - begin:.1f} s; the code is in {find_cache_folder()}")
