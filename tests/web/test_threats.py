"""A test for each line of the threat model in docs/server.md."""

import asyncio
import io
import json
import re
import tarfile
import zipfile
from ipaddress import ip_network
from pathlib import Path

import httpx
import pytest
import uvicorn
from helpers.problems import SMALL
from helpers.serving import run_async, start_server, stop_server, waited_for
from helpers.ward import VISITS
from starlette.responses import PlainTextResponse

from voilattice import load_problem
from voilattice.web import connections, guards
from voilattice.web.advisor import Advisor, Limits
from voilattice.web.app import create_app
from voilattice.web.guards import BodyGuard, BrowserGuard, ClientGuard
from voilattice.web.refusals import TooMany
from voilattice.web.uploads import MAX_BYTES

pytestmark = pytest.mark.slow

ASKED = {"problem": "asia", "policy": "greedy"}


def upload(api, *files):
    return api.post("/api/v1/problems", files=[("files", file) for file in files])


def asgi(*hosts):
    """Return a client of an application without workers, called by any name."""
    app = create_app({"asia": load_problem("asia")}, hosts=hosts)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


def ask(client, *arguments, **options):
    async def whole():
        async with client:
            return await client.request(*arguments, **options)

    return run_async(whole())


# -- uploads


def test_an_upload_that_is_too_large_is_refused(api):
    answer = upload(api, ("p.toml", b"#" * (MAX_BYTES + 1)))
    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")


def test_a_body_without_a_length_is_not_read_for_ever(api):
    body = (b" " * 1_000_000 for _ in range(100))
    answer = api.post("/api/v1/advise", content=body)
    assert (answer.status_code, "at most" in answer.json()["detail"]) == (413, True)


def test_more_files_than_a_problem_has_are_refused(api):
    assert upload(api, *[(f"{k}.toml", b"") for k in range(5)]).status_code == 422


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 50_000, "a = " + "{b=" * 50_000, "[" + "a." * 50_000 + "a]", "a" * 1_000_000],
)
def test_toml_as_deep_as_you_like_is_refused(api, text):
    answer = upload(api, ("p.toml", text.encode()))
    assert 400 <= answer.status_code < 500
    assert answer.json()["detail"]


def test_a_small_upload_that_unfolds_into_a_large_one_is_refused(api):
    n = 60  # a table of 2^60 numbers
    names = [f"X{k}" for k in range(n)]
    text = (
        "network n {} variable Y { type discrete [2] { T, F }; } probability (Y) { table .4, .6; }"
    )
    for name in names:
        text += f"variable {name} {{ type discrete [2] {{ T, F }}; }}"
        text += f"probability ( {name} ) {{ table 0.1, 0.9; }}"
    text += "variable Z { type discrete [2] { T, F }; }"
    text += f"probability ( Z | {', '.join(names)} ) {{ default 0.5, 0.5; }}"
    problem = '[network]\nfile = "n.bif"\ntarget = "Y"\n[misclassification]\nkind = "symmetric"\n'
    problem += "expected = 50\n[costs]\nZ = 1\n" + "".join(f"{name} = 1\n" for name in names)
    answer = upload(api, ("p.toml", problem.encode()), ("n.bif", text.encode()))
    assert answer.status_code in {400, 413}
    assert api.post("/api/v1/advise", json=ASKED).status_code == 200


@pytest.mark.parametrize("name", ["../../etc/p.toml", "/tmp/p.toml", "C:\\p.toml", "a\x00.toml"])
def test_the_name_of_a_file_is_never_a_path(api, name):
    before = set(Path.cwd().parent.iterdir())
    answer = upload(api, (name, SMALL.encode()))
    assert answer.status_code in {201, 400}
    assert set(Path.cwd().parent.iterdir()) == before


@pytest.mark.parametrize("file", ["/etc/passwd", "../../../etc/passwd", "/proc/self/environ"])
def test_no_file_of_the_server_can_be_named_as_the_network(api, file):
    rules = SMALL[SMALL.index("[costs]") :]
    text = f'[network]\ntarget = "Y"\nfile = "{file}"\n{rules}'
    answer = upload(api, ("p.toml", text.encode()))
    assert (answer.status_code, "root:" in answer.text) == (400, False)
    assert "does not include" in answer.json()["detail"]


def test_archives_are_not_unpacked(api):
    packed, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("p.toml", SMALL)
    with tarfile.open(fileobj=tarred, mode="w:gz") as archive:
        link = tarfile.TarInfo("n.bif")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    for name, content in (("p.zip", packed), ("p.tar.gz", tarred), ("p.toml", packed)):
        answer = upload(api, (name, content.getvalue()))
        assert (answer.status_code, "root:" in answer.text) == (400, False)


def test_names_in_files_are_text_wherever_they_are_shown(api):
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    text = f'title = "{evil}"\n{SMALL}\n[labels]\nX = "{evil}"\nY = "{evil}!"\n'
    name = upload(api, ("p.toml", text.encode())).json()["name"]
    lattice = api.post("/api/v1/lattice", json={"problem": name}).json()
    job = api.post("/api/v1/policy", json={"problem": name, "policy": "optimal"}).json()
    tree = waited_for(api, job)["result"]["tree"]
    job = api.post("/api/v1/report", json={"problem": name, "policy": "optimal"}).json()
    report = waited_for(api, job)["result"]["html"]
    network = api.get(f"/api/v1/problems/{name}/network.svg").text
    for drawn in (lattice["svg"], tree, report, network):
        assert "&lt;script&gt;" in drawn
        assert not re.search(r"<script|<img", drawn)
    assert upload(api, (evil, b"")).headers["content-type"] == "application/problem+json"


def test_links_to_uploads_that_are_gone_say_what_to_do(api):
    answer = api.get("/api/v1/problems/upload-" + 32 * "0")
    assert answer.status_code == 404
    assert "upload its files again" in answer.json()["detail"]


def test_uploads_in_a_folder_survive_a_restart(tmp_path):
    for k in range(2):
        process, address = start_server("--data", str(tmp_path), "--workers", "2")
        with httpx.Client(base_url=address, timeout=60) as client:
            if k == 0:
                name = upload(client, ("p.toml", SMALL.encode())).json()["name"]
            found = client.post("/api/v1/advise", json=ASKED | {"problem": name})
            shown = client.get(f"/api/v1/problems/{name}")
        assert stop_server(process) == (0, "")
        assert (found.status_code, shown.json()["target"]) == (200, "Y")
    assert [path.name for path in tmp_path.iterdir()] == [name]


# -- resource use


def test_a_client_with_too_many_requests_in_work_is_told_to_wait():
    entered, leave = asyncio.Event(), asyncio.Event()

    async def slow(scope, receive, send):
        entered.set()
        await leave.wait()
        await PlainTextResponse("done")(scope, receive, send)

    async def whole():
        transport = httpx.ASGITransport(ClientGuard(slow, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://a") as client:
            first = asyncio.create_task(client.get("/"))
            await entered.wait()
            second = await client.get("/")
            leave.set()
            return second, await first, await client.get("/")

    refused, first, third = run_async(whole())
    assert (refused.status_code, first.status_code, third.status_code) == (429, 200, 200)
    assert int(refused.headers["retry-after"]) > 0
    assert refused.json()["title"] == "Too Many Requests"


def test_a_client_with_too_many_jobs_is_told_to_wait(api):
    asked = {"problem": "thyroid", "points": [float(x) for x in range(101)]}
    answers = [api.post("/api/v1/compare", json=asked) for _ in range(9)]
    for answer in answers[:-1]:
        api.delete(f"/api/v1/jobs/{answer.json()['job']}")
    assert [answer.status_code for answer in answers] == [202] * 8 + [429]
    assert int(answers[-1].headers["retry-after"]) > 0


def test_a_client_with_too_many_uploads_is_told_to_wait():
    advisor = Advisor({}, Limits(client_uploads=2), 2)
    for client in ("a", "a", "b"):
        advisor._count_upload(client)
    with pytest.raises(TooMany, match="^you sent 2 uploads in a minute"):
        advisor._count_upload("a")


def test_what_is_sent_again_is_not_counted_as_another_upload(api):
    def send():
        return api.post("/api/v1/problems", files={"files": ("visits.toml", VISITS)})

    first = send()
    assert first.status_code == 201
    again = [send() for _ in range(Limits().client_uploads + 1)]
    assert {answer.status_code for answer in again} == {201}
    assert {answer.content for answer in again} == {first.content}


def test_work_without_end_is_ended():
    sweep = {"problem": "thyroid", "points": [float(x) for x in range(101)]}
    app = create_app({"thyroid": load_problem("thyroid")}, Limits(job_seconds=0.5), n_workers=2)

    async def whole():
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
        ):
            job = (await client.post("/api/v1/compare", json=sweep)).json()
            while job["state"] in {"queued", "running"}:
                await asyncio.sleep(0.05)
                job = (await client.get(f"/api/v1/jobs/{job['job']}")).json()
            return job

    job = run_async(whole())
    assert (job["state"], job["error"]["status"]) == ("failed", 413)
    assert "not done after 0.5 seconds" in job["error"]["detail"]


def test_a_client_cannot_pass_for_another(monkeypatch):
    asked = {"headers": {"X-Forwarded-For": "1.1.1.1"}}
    seen = []
    monkeypatch.setattr(Advisor, "upload", lambda self, files, client: seen.append(client))
    for proxies in ((), [ip_network("10.0.0.7")]):
        app = create_app({}, n_workers=2, trusted_proxies=proxies)
        for peer in ("192.0.2.1", "10.0.0.7"):
            transport = httpx.ASGITransport(app, client=(peer, 1))
            client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")
            ask(client, "POST", "/api/v1/problems", files={"files": ("p.toml", b"")}, **asked)
    assert seen == ["192.0.2.1", "10.0.0.7", "192.0.2.1", "1.1.1.1"]


# -- other sites


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ],
)
def test_pages_of_other_sites_cannot_change_anything(headers):
    for method, path in (("POST", "problems"), ("DELETE", "jobs/x"), ("POST", "advise")):
        answer = ask(asgi(), method, f"/api/v1/{path}", headers=headers)
        assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "headers", [{}, {"sec-fetch-site": "same-origin"}, {"origin": "http://127.0.0.1:8770"}]
)
def test_our_own_page_and_programs_can(headers):
    assert ask(asgi(), "DELETE", "/api/v1/jobs/x", headers=headers).status_code == 404


def test_a_form_of_another_site_is_no_question(api):
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        asked = json.dumps(ASKED)
        answer = api.post("/api/v1/advise", content=asked, headers={"content-type": kind})
        assert answer.status_code == 422


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8770", "127.0.0.1.evil.example", ""]
)
def test_a_name_that_is_not_ours_is_refused(host):
    answer = ask(asgi(), "GET", "/health", headers={"host": host})
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert "--allow-host" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("allowed", "host"),
    [("Advisor.example", "advisor.example:443"), ("*", "any.example"), ("::2", "[::2]:80")],
)
def test_a_name_that_is_allowed_is_not_refused(allowed, host):
    assert ask(asgi(allowed), "GET", "/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("path", ["/health", "/advisor/health", "/advisor/", "/advisor/docs"])
def test_a_proxy_may_leave_the_root_path_or_remove_it(path):
    app = create_app({}, root_path="/advisor")
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
    assert ask(client, "GET", path).status_code == 200


# -- the browser


def test_the_browser_is_guarded_on_every_answer():
    for path in ("/", "/health", "/api/v1/problems", "/nothing", "/docs", "/openapi.json"):
        headers = ask(asgi(), "GET", path).headers
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy
        assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= set(
            policy.split("; ")
        )
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/%2e%2e/app.py", "/..%2fapp.py", "/static/../app.py"]
)
def test_nothing_but_the_page_is_served_from_disk(path):
    assert ask(asgi(), "GET", path).status_code == 404


# -- what is said


def test_logs_and_errors_tell_nothing_of_evidence_or_uploads():
    process, address = start_server("--workers", "2", "--log-json")
    with httpx.Client(base_url=address, timeout=60) as client:
        client.post("/api/v1/advise", json=ASKED | {"evidence": {"smoke": "secret"}})
        client.post("/api/v1/advise", json=ASKED | {"evidence": {"smoke": "yes"}})
        client.get("/api/v1/problems/secret?evidence=secret")
        refused = upload(client, ("p.toml", b"secret = 1"))
        metrics = client.get("/metrics").text
    status, written = stop_server(process)
    assert (status, len(written.splitlines())) == (0, 5)  # a line for each request
    for hidden in ("secret", "smoke", "yes", "asia", "p.toml", "127.0.0.1"):
        assert hidden not in written + metrics
    assert "/tmp" not in refused.json()["detail"]


def test_an_error_of_our_own_is_told_without_details(caplog):
    async def broken(scope, receive, send):
        raise KeyError("secret")

    client = httpx.AsyncClient(transport=httpx.ASGITransport(BrowserGuard(broken)))
    answer = ask(client, "GET", "http://a/")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "KeyError in test_threats.py, line " in answer.json()["detail"]
    assert "secret" not in answer.text + caplog.text
    assert "KeyError" in caplog.text


def test_a_request_that_is_cancelled_is_told_that_the_server_stops():
    async def cancelled(scope, receive, send):
        raise asyncio.CancelledError

    client = httpx.AsyncClient(transport=httpx.ASGITransport(BrowserGuard(cancelled)))
    answer = ask(client, "GET", "http://a/")
    assert (answer.status_code, answer.json()["detail"]) == (503, "the server is being stopped")


# -- slow and wrong clients


def test_a_head_that_comes_too_slowly_ends_the_connection(monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)

    async def whole():
        app = PlainTextResponse("here")
        config = uvicorn.Config(
            app,
            port=0,
            http=connections.Connection,
            lifespan="off",
            log_level="critical",
            timeout_keep_alive=0,  # which is all that the rest of a second head has
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        answers = []
        for head in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / H"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head)
            answers.append(await asyncio.wait_for(reader.read(), 20))
            writer.close()
        server.should_exit = True
        await serving
        return answers

    first, second, third = run_async(whole())
    assert (first, second) == (b"", b"")
    assert third.endswith(b"here")


def test_a_body_that_comes_too_slowly_is_refused():
    async def app(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        await PlainTextResponse("read")(scope, receive, send)

    async def whole(seconds):
        sent = []

        async def receive():
            await asyncio.sleep(0.01)
            return {"type": "http.request", "body": b"x", "more_body": True}

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "POST", "headers": []}
        await BodyGuard(app, seconds)(scope, receive, send)
        return sent

    start, _ = run_async(whole(0.1))
    assert start["status"] == 408


@pytest.mark.parametrize(
    "content", [b"{", b"\xff", b"[" * 100_000, b"9" * 5000, b"", b"null", b"0"]
)
def test_what_is_no_question_is_refused(api, content):
    headers = {"content-type": "application/json"}
    answer = api.post("/api/v1/advise", content=content, headers=headers)
    assert 400 <= answer.status_code < 500
    assert answer.headers["content-type"] == "application/problem+json"


def test_every_line_of_the_threat_model_has_a_test_here():
    text = (Path(__file__).parents[2] / "docs" / "server.md").read_text()
    lines = text.partition("| threat | answer | test |")[2].splitlines()[2:]
    named = [re.findall(r"`(test_\w+)`", line) for line in lines if line.startswith("|")]
    assert len(named) >= 15
    assert all(named)
    assert {name for names in named for name in names} <= set(globals())


def test_every_limit_has_a_bound():
    assert 0 < guards.MAX_BODY <= 10_000_000
    assert 0 < guards.BODY_SECONDS <= 60
    assert 0 < connections.HEAD_SECONDS <= 60
