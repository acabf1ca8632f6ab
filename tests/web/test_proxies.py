"""Who asks, behind proxies: what they have seen counts, and what a client writes does not."""

import asyncio
import getpass
import os
import random
import re
import shutil
import subprocess
from ipaddress import IPv4Address, IPv6Address, ip_network
from pathlib import Path

import httpx
import pytest
from helpers.serving import free_port, run_async, start_server, stop_server
from starlette.responses import PlainTextResponse

from voilattice.errors import InputError
from voilattice.web.guards import ClientGuard, client_of
from voilattice.web.proxies import ProxyGuard, client_behind, client_key, read_network
from voilattice.web.uploads import MAX_BYTES

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serve-it-behind-a-proxy.md"
TRUSTED = [ip_network(text) for text in ("10.0.0.0/8", "fd00::/8", "127.0.0.1")]


def any_address(rng, *, is_trusted):
    """Return an address, and one of the ways in which it can be written in a header."""
    if rng.random() < 0.5:
        v4 = IPv4Address(((10 if is_trusted else 203) << 24) + rng.randrange(1 << 24))
        return str(v4), rng.choice([f"{v4}", f" {v4}:{rng.randrange(65536)}", f"::ffff:{v4}"])
    v6 = IPv6Address(((0xFD00 if is_trusted else 0x2001) << 112) + rng.randrange(1 << 100))
    return str(v6), rng.choice([f"{v6}", f'"[{v6}]:443"', f"[{v6}]", v6.exploded])


def test_the_first_address_that_is_no_trusted_proxys_is_the_clients():
    rng = random.Random(0)
    rubbish = ("1.1.1.1", "unknown", "", "10.0.0.1", "<script>", "::1", "999.1.1.1", "_hidden")
    for _ in range(500):
        client, written = any_address(rng, is_trusted=False)
        peer, _ = any_address(rng, is_trusted=True)
        proxies = [any_address(rng, is_trusted=True)[1] for _ in range(rng.randrange(3))]
        forged = rng.choices(rubbish, k=rng.randrange(3))
        header = ",".join([*forged, written, *proxies])
        assert client_behind(peer, header, TRUSTED) == client
        assert client_behind(peer, header, []) == peer
        assert client_behind(client, header, TRUSTED) == client


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.7", "", "10.0.0.7"),  # the proxy says nothing
        ("10.0.0.7", "unknown", "10.0.0.7"),
        ("10.0.0.7", "1.1.1.1, unknown", "10.0.0.7"),
        ("10.0.0.7", "10.0.0.8, 10.0.0.9", "10.0.0.8"),  # an operator on a proxy
        ("::ffff:10.0.0.7", "192.0.2.1", "192.0.2.1"),  # a socket for both families
        ("::ffff:192.0.2.1", "1.1.1.1", "192.0.2.1"),
        ("testclient", "1.1.1.1", "testclient"),
    ],
)
def test_odd_headers(peer, forwarded, client):
    assert client_behind(peer, forwarded, TRUSTED) == client


def test_a_network_of_mapped_addresses_is_one_of_version_4():
    for text, plain in (
        ("::ffff:192.168.0.0/112", "192.168.0.0/16"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
        ("::ffff:0:0/96", "0.0.0.0/0"),
        ("fd00::/8", "fd00::/8"),
        ("::/0", "::/0"),
    ):
        assert read_network(text) == ip_network(plain)
    trusted = [read_network("::ffff:192.168.0.0/112"), read_network("fe80::1%eth0")]
    for peer in ("192.168.3.4", "::ffff:192.168.3.4", "fe80::1%eth0"):
        assert client_behind(peer, "203.0.113.5", trusted) == "203.0.113.5"


def test_one_machine_is_one_client_whatever_address_of_its_own_it_takes():
    rng = random.Random(0)
    for _ in range(100):
        network = 0x2001 << 112 | rng.randrange(1 << 48) << 64
        first, second = (str(IPv6Address(network | rng.randrange(1 << 64))) for _ in range(2))
        other = str(IPv6Address(network ^ 1 << 64 | rng.randrange(1 << 64)))
        assert client_key(first) == client_key(second) != client_key(other)
    assert client_key("2001:db8::1") == "2001:db8::/64"
    assert client_key("192.0.2.1") == "192.0.2.1" != client_key("192.0.2.2")
    assert client_key("testclient") == "testclient"
    # What comes after % is a matter of the machine that writes it, and can be anything.
    assert client_behind("10.0.0.7", "fe80::1%evil, fe80::2%7", TRUSTED) == "fe80::2"
    assert answers([], ("fe80::1%a",), ("fe80::1%b",)) == ["fe80::/64"] * 2
    assert answers(TRUSTED, ("10.0.0.7", "2001:db8::1")) == ["2001:db8::/64"]


@pytest.mark.parametrize("text", ["nginx", "10.0.0.1/8", "10.0.0.0/99", "", "*"])
def test_a_proxy_is_named_by_its_address(text):
    with pytest.raises(InputError, match="^--trusted-proxy: must be an address such as 10.0.0.7 "):
        read_network(text)


def answers(trusted, *asked):
    """Return who is said to ask, for each peer with its headers."""

    async def app(scope, receive, send):
        await PlainTextResponse(client_of(scope))(scope, receive, send)

    async def whole():
        found = []
        for peer, *lines in asked:
            transport = httpx.ASGITransport(ProxyGuard(app, trusted), client=(peer, 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://a") as client:
                headers = [("X-Forwarded-For", line) for line in lines]
                found.append((await client.get("/", headers=headers)).text)
        return found

    return run_async(whole())


def test_a_forged_address_is_ignored():
    asked = ("192.0.2.1", "1.1.1.1"), ("10.0.0.7", "1.1.1.1", "192.0.2.2")
    assert answers([], *asked) == ["192.0.2.1", "10.0.0.7"]
    assert answers(TRUSTED, *asked) == ["192.0.2.1", "192.0.2.2"]


def test_those_behind_one_proxy_are_many_clients():
    entered, leave = asyncio.Event(), asyncio.Event()

    async def slow(scope, receive, send):
        entered.set()
        await leave.wait()
        await PlainTextResponse("done")(scope, receive, send)

    async def whole():
        app = ProxyGuard(ClientGuard(slow, 1), TRUSTED)
        transport = httpx.ASGITransport(app, client=("10.0.0.7", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://a") as client:

            def get(name):
                return asyncio.create_task(client.get("/", headers={"X-Forwarded-For": name}))

            first = get("192.0.2.1")
            await entered.wait()
            again, forged = await get("192.0.2.1"), await get("1.1.1.1, 192.0.2.1")
            other = get("192.0.2.2")
            leave.set()
            return [await first, again, forged, await other]

    assert [answer.status_code for answer in run_async(whole())] == [200, 429, 429, 200]


@pytest.fixture
def nginx(tmp_path):
    """The advisor behind nginx, as the documentation says: its address there."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("no nginx: apt-get install nginx")
        pytest.skip("no nginx here: apt-get install nginx")
    options = re.search(r"voilattice serve asia (.*?) &$", PAGE.read_text(), re.M)[1]
    process, address = start_server("asia", *options.split(), "--workers", "2")
    port = free_port()
    location = re.search(r"```nginx\n(.*?)```", PAGE.read_text(), re.S)[1]
    location = location.replace("http://127.0.0.1:8770/", address)
    (tmp_path / "nginx.conf").write_text(
        f"user {getpass.getuser()}; daemon off; pid {tmp_path}/pid; error_log stderr;\n"
        "events {}\nhttp { access_log off;"
        f"client_body_temp_path {tmp_path}/body; proxy_temp_path {tmp_path}/proxy;\n"
        f"fastcgi_temp_path {tmp_path}/1; uwsgi_temp_path {tmp_path}/2; scgi_temp_path "
        f"{tmp_path}/3;\nserver {{ listen 127.0.0.1:{port};\n{location}}}}}\n"
    )
    arguments = [program, "-p", str(tmp_path), "-c", "nginx.conf"]
    subprocess.run([*arguments, "-t"], check=True, capture_output=True)
    proxy = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}/advisor/"
    finally:
        proxy.terminate()
        proxy.wait(10)
        assert stop_server(process) == (0, "")


def from_address(address, client):
    """Return a client of a server that asks from an address of its own of this machine."""
    transport = httpx.HTTPTransport(local_address=client, retries=5)
    headers = {"Host": "advisor.example.org"}
    return httpx.Client(base_url=address, transport=transport, headers=headers, timeout=60)


@pytest.mark.slow
def test_the_configuration_of_nginx_in_the_documentation_works(nginx):
    asked = {"problem": "thyroid", "points": [float(x) for x in range(101)]}
    with from_address(nginx, "127.0.0.2") as first, from_address(nginx, "127.0.0.3") as second:
        assert first.get("").text.startswith("<!doctype html>")
        started = [first.post("api/v1/compare", json=asked) for _ in range(9)]
        forged = first.post("api/v1/compare", json=asked, headers={"X-Forwarded-For": "127.0.0.9"})
        others = second.post("api/v1/compare", json=asked)
        for answer in (*started[:-1], others):
            first.delete(f"api/v1/jobs/{answer.json()['job']}")
        large = first.post("api/v1/problems", files={"files": ("p.toml", b"#" * (MAX_BYTES - 9))})
        assert [answer.status_code for answer in started] == [202] * 8 + [429]
        assert (forged.status_code, others.status_code) == (429, 202)
        # nginx lets it through: it is our server that finds no problem in it.
        assert (large.status_code, "network" in large.json()["detail"]) == (400, True)
        assert first.get("ready").status_code in {200, 503}
        # The server takes its own path away once more: these are its metrics too.
        for path in ("metrics", "advisor/metrics", "advisor//%6detrics", "x/../metrics"):
            assert first.get(path).status_code == 403
