"""The command that serves the advisor."""

from __future__ import annotations

from collections.abc import Sequence

import click

from voilattice.cli.completion import complete_problem
from voilattice.cli.options import load
from voilattice.errors import InputError
from voilattice.extras import need_extra
from voilattice.files.problems import BUILTIN, builtin_problems, find_problem, load_problem
from voilattice.model.problem import Problem

__all__ = ["serve_command"]

PORT = 8770
START = "heart"  # the page begins with the first problem: with one named by the user, or with this


@click.command(name="serve")
@click.argument("problems", nargs=-1, metavar="[PROBLEM ...]", shell_complete=complete_problem)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="0: any free port.",
)
@click.option(
    "--workers",
    type=click.IntRange(2, 64),
    help="How many processes do the work.  [default: one a core, from 4 to 16]",
)
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="A name that the server is called by, behind a proxy or in a container; repeatable. "
    "*: any name.",
)
@click.option(
    "--root-path",
    default="",
    metavar="PATH",
    help="Where a proxy shows the server, such as /advisor.",
)
@click.option(
    "--trusted-proxy",
    "proxies",
    metavar="ADDRESS",
    multiple=True,
    help="A proxy whose X-Forwarded-For says who asks: an address or a network, such as "
    "10.0.0.0/8; repeatable.  [default: none]",
)
@click.option(
    "--data",
    "folder",
    type=click.Path(file_okay=False),
    help="Keep uploads in this folder, so that they survive a restart.",
)
@click.option(
    "--log-json",
    is_flag=True,
    help="Write a line of JSON for each request (route, status, milliseconds) to standard error.",
)
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
def serve_command(
    problems: Sequence[str],
    host: str,
    port: int,
    workers: int | None,
    hosts: Sequence[str],
    root_path: str,
    proxies: Sequence[str],
    folder: str | None,
    log_json: bool,
    open_page: bool,
) -> None:
    """Serve the advisor: a page for people, and an HTTP API.

    It offers the problems named here and the built-in ones, and begins with the first of them.
    Ctrl-C ends it.
    """
    need_extra("web", "serve")
    import socket

    from voilattice.web.app import create_app
    from voilattice.web.logs import configure_logs
    from voilattice.web.proxies import read_network
    from voilattice.web.serving import Server
    from voilattice.web.shelf import Shelf

    if root_path and not (root_path.startswith("/") and root_path.strip("/")):
        raise InputError(f"must be a path such as /advisor, got {root_path!r}", "--root-path")
    trusted = [read_network(proxy) for proxy in proxies]
    loaded: dict[str, Problem] = {}
    for given in problems:
        name = find_problem(given).name
        if name in loaded:
            raise InputError(f"another problem is called {name!r} too; rename one of them", given)
        loaded[name] = load(given)
    for name in sorted(builtin_problems(), key=lambda name: name != START):
        if name not in loaded:
            loaded[name] = load_problem(f"{BUILTIN}{name}")
    app = create_app(
        loaded, hosts=[host, *hosts], n_workers=workers, root_path=root_path.rstrip("/"),
        trusted_proxies=trusted, shelf=None if folder is None else Shelf(folder),
    )  # fmt: skip
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only if the protocol is named.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)  # whoever reads the address below can connect at once
    except OSError as error:
        listener.close()
        why = error.strerror or error
        raise InputError(f"cannot listen there: {why}", f"{host}:{port}") from None
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{listener.getsockname()[1]}/"
    click.echo(f"The advisor is at {address} (API: {address}openapi.json). Ctrl-C ends it.")
    if open_page:
        import webbrowser

        webbrowser.open(address)
    configure_logs(as_json=log_json)
    Server(app).run(sockets=[listener])
