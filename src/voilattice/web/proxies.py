"""Who asks, if a proxy stands between: the address that the proxies we trust have seen.

Each proxy on the way adds the address of whoever asked it to the end of `X-Forwarded-For`. What
stands further left was written by somebody else, and may be forged. So the header is read from
the right, one address for each proxy that is trusted: the first address that is not a trusted
proxy's is the client's. Without trusted proxies the header counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.types import ASGIApp, Receive, Scope, Send

from voilattice.errors import InputError

__all__ = ["Network", "ProxyGuard", "client_behind", "client_key", "read_network"]

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

FORWARDED = b"x-forwarded-for"
MAPPED_BITS = 96  # before the IPv4 address in ::ffff:192.0.2.1
CLIENT_BITS = 64  # of an IPv6 address, that name the network of a client


def read_network(text: str) -> Network:
    """Return the addresses that a text such as ``10.0.0.7`` or ``fd00::/8`` stands for.

    Raises
    ------
    InputError
        It is neither an address nor a network.
    """
    try:
        network = ip_network(text)
    except ValueError:
        raise InputError(
            f"must be an address such as 10.0.0.7 or a network such as 10.0.0.0/8, got {text!r}",
            "--trusted-proxy",
        ) from None
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    return network if mapped is None else IPv4Network((mapped, network.prefixlen - MAPPED_BITS))


class ProxyGuard:
    """Replaces the address of whoever is connected by what stands for the client behind it."""

    def __init__(self, app: ASGIApp, trusted: Sequence[Network] = ()) -> None:
        self._app, self._trusted = app, trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get("client"):
            lines = [text.decode("latin-1") for name, text in scope["headers"] if name == FORWARDED]
            peer, port = scope["client"]
            client = client_behind(peer, ",".join(lines), self._trusted)
            scope["client"] = (client_key(client), port)
        await self._app(scope, receive, send)


def client_behind(peer: str, forwarded: str, trusted: Iterable[Network]) -> str:
    """Return the address of a client, from who is connected and what `X-Forwarded-For` says.

    >>> trusted = [ip_network("10.0.0.0/8")]
    >>> client_behind("10.0.0.7", "1.1.1.1, 192.0.2.5, 10.0.0.8", trusted)
    '192.0.2.5'
    >>> client_behind("192.0.2.5", "1.1.1.1", trusted)
    '192.0.2.5'
    """
    client = _read_address(peer)
    if client is None:  # not an address of the network, such as the name of a test
        return peer
    for entry in reversed(forwarded.split(",")):
        if not any(client in network for network in trusted):
            break
        if (before := _read_address(entry)) is None:  # the proxy does not know, or says nothing
            break
        client = before
    return str(client)


def client_key(client: str) -> str:
    """Return what stands for a client in the limits: an IPv4 address, or an IPv6 network.

    A machine has a whole network of IPv6 addresses, and can take any of them for a request.

    >>> client_key("2001:db8::1:2:3"), client_key("192.0.2.5")
    ('2001:db8::/64', '192.0.2.5')
    """
    address = _read_address(client)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, CLIENT_BITS), strict=False))
    return client


def _read_address(text: str) -> Address | None:
    """Return an address, without a port; None: it is none."""
    text = text.strip().strip('"')
    if text.startswith("["):  # [2001:db8::1]:443
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:  # 192.0.2.1:443
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return address
    # A socket for both families shows IPv4 addresses as ::ffff:192.0.2.1. What follows % names a
    # part of some machine.
    return address.ipv4_mapped or IPv6Address(int(address))
