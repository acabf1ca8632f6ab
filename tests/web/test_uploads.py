"""Problems that come with a request."""

import pytest


def files_of(folder):
    return [("files", (file.name, file.read_bytes())) for file in sorted(folder.iterdir())]


def test_an_upload_can_be_asked_about(api, own_problem):
    answer = api.post("/api/problems", files=files_of(own_problem))
    assert answer.status_code == 201
    name = answer.json()["name"]
    assert "<script>alert(1)</script>" in answer.json()["features"]
    advice = api.post("/api/advise", json={"problem": name, "policy": "optimal"})
    assert advice.status_code == 200
    again = api.post("/api/problems", files=files_of(own_problem)).json()["name"]
    assert again == name  # the same files have the same name


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
    answer = api.post("/api/problems", files=[("files", file) for file in files])
    assert answer.status_code == status
    assert said in answer.json()["error"]
    assert "/tmp" not in answer.json()["error"]


def test_too_many_files_and_none(api):
    many = [("files", (f"{k}.bif", b"")) for k in range(9)]
    assert api.post("/api/problems", files=many).status_code == 422
    assert api.post("/api/problems").status_code == 422
