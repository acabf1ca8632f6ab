"""Problems that come with a request."""

import pytest
from helpers.problems import SURE
from helpers.serving import start_server, stop_server

from voilattice.errors import InputError, TooLargeError
from voilattice.web.uploads import read_upload, upload_id


@pytest.fixture(scope="module")
def server():
    """A server of its own: a client may not upload more than so often in a minute."""
    process, address = start_server()
    yield address
    stop_server(process)


def files_of(folder):
    return [("files", (file.name, file.read_bytes())) for file in sorted(folder.iterdir())]


@pytest.mark.slow
def test_an_upload_can_be_asked_about(api, own_problem):
    answer = api.post("/api/v1/problems", files=files_of(own_problem))
    assert answer.status_code == 201
    name = answer.json()["name"]
    assert "<script>alert(1)</script>" in answer.json()["features"]
    advice = api.post("/api/v1/advise", json={"problem": name, "policy": "optimal"})
    assert advice.status_code == 200
    again = api.post("/api/v1/problems", files=files_of(own_problem)).json()["name"]
    assert again == name  # the same files have the same name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "status", "said"),
    [
        ([("x.toml", b"title = 3")], 400, "x.toml: network: is missing"),
        ([("x.toml", b"\xff\xfe")], 400, "x.toml: not UTF-8 text"),
        ([("x.txt", b"hello")], 400, "one problem file (.toml) and its network"),
        ([("a.toml", b""), ("b.toml", b"")], 400, "one problem file"),
        ([("x.toml", b"a" * 6_000_000)], 413, "at most 5,100,000 bytes"),
        ([("x.toml", b"a" * 5_050_000)], 413, "at most 5,000,000 bytes"),
        ([("x.toml", b'[network]\nfile = "/etc/passwd"\ntarget = "Y"')], 400,
         "the upload does not include /etc/passwd, which the problem file names"),
        ([("x.toml", b'[network]\nfile = "../x.bif"\ntarget = "Y"')], 400,
         "network.file: the upload does not include ../x.bif, which the problem file names"),
        (
            [("x.toml", b'[network]\nfile = "n.bif"\ntarget = "Y"\n[costs]\n[misclassification]'),
             ("n.bif", b"network {")],
            400, "n.bif",
        ),
        ([("x.toml", b'[network]\nfile = "n.exe"\ntarget = "Y"'), ("n.exe", b"")], 400, "format"),
    ],
)  # fmt: skip
def test_an_upload_that_is_no_problem_is_refused(api, files, status, said):
    answer = api.post("/api/v1/problems", files=[("files", file) for file in files])
    assert answer.status_code == status
    assert said in answer.json()["detail"]
    assert "/tmp" not in answer.json()["detail"]


@pytest.mark.slow
def test_too_many_files_and_none(api):
    many = [("files", (f"{k}.bif", b"")) for k in range(9)]
    assert api.post("/api/v1/problems", files=many).status_code == 422
    assert api.post("/api/v1/problems").status_code == 422


JOINT = SURE.encode()
FILE = b'[network]\nfile = "n.bif"\ntarget = "A"\n[costs]\nB = 1\n'
FILE += b'[misclassification]\nkind = "symmetric"\nexpected = 1\n'
BIF = b"""network n {}
variable A { type discrete [2] { T, F }; } variable B { type discrete [2] { T, F }; }
probability ( A ) { table 0.5, 0.5; } probability ( B | A ) { (T) 0.9, 0.1; (F) 0.2, 0.8; }
"""


def test_the_same_files_have_the_same_name_in_any_order_and_others_another():
    files = {"p.toml": FILE, "n.bif": BIF}
    name = upload_id(files)
    assert name == upload_id(dict(reversed(files.items())))
    assert name not in {
        upload_id(files | {"n.bif": BIF + b" "}),
        upload_id({"q.toml": FILE, "n.bif": BIF}),
        upload_id({"p.toml": BIF, "n.bif": FILE}),
    }


@pytest.mark.parametrize("folder", ["", "mine/", "C:\\mine\\"])
def test_a_problem_is_read_with_its_network_whatever_folder_it_had(folder):
    problem = read_upload({f"{folder}p.toml": FILE, f"{folder}n.bif": BIF})
    assert (problem.target, problem.features) == ("A", ("B",))


@pytest.mark.parametrize(
    ("file", "title"),
    [
        ("mine/ward 7.toml", "ward 7"),
        ("Größe_2.TOML", "Größe_2"),
        ("<b>.toml", ""),
        ("x" * 80 + ".toml", ""),
        (" .toml", ""),
    ],
)
def test_an_upload_without_a_title_is_called_as_its_file_if_that_is_plain(file, title):
    assert read_upload({file: FILE, "n.bif": BIF}).title == title
    assert read_upload({file: b'title = "Mine"\n' + FILE, "n.bif": BIF}).title == "Mine"


def test_a_joint_distribution_needs_no_network_file():
    assert read_upload({"sure.toml": b"\xef\xbb\xbf" + JOINT}).features == ("A", "B")


def test_a_network_that_is_damaged_is_called_as_the_user_calls_it():
    with pytest.raises(InputError, match=r"^p\.toml: network\.file: n\.bif: line 1: "):
        read_upload({"p.toml": FILE, "n.bif": b"nothing"})


def test_a_file_of_ours_is_never_opened(tmp_path):
    (tmp_path / "n.bif").write_bytes(BIF)
    problem = FILE.replace(b"n.bif", str(tmp_path / "n.bif").encode())
    with pytest.raises(InputError, match="the upload does not include"):
        read_upload({"p.toml": problem})


def test_an_upload_has_a_largest_size(monkeypatch):
    monkeypatch.setattr("voilattice.web.uploads.MAX_BYTES", len(JOINT))
    assert read_upload({"p.toml": JOINT})
    with pytest.raises(TooLargeError, match=f"at most {len(JOINT)} bytes"):
        read_upload({"p.toml": JOINT, "n": b" "})
