"""Uploads in a folder."""

import os

import pytest

from voilattice.errors import InputError
from voilattice.web import shelf as module
from voilattice.web.shelf import Shelf
from voilattice.web.uploads import upload_id

FILES = {"p.toml": b"a = 1", "n.bif": bytes(range(256))}
NAME = upload_id(FILES)


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "kept" / "here")


def test_an_upload_is_found_again_by_another_server(shelf):
    assert shelf.find(NAME) is None
    shelf.keep(NAME, FILES)
    assert Shelf(shelf._folder).find(NAME) == FILES
    assert [path.name for path in shelf._folder.iterdir()] == [NAME]


@pytest.mark.parametrize("name", ["../x", "upload-1", "", "/etc/passwd", NAME.upper()])
def test_nothing_but_the_name_of_an_upload_is_looked_for(shelf, name):
    shelf.keep(NAME, FILES)
    assert shelf.find(name) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"a": 1}', b'{"a": "!"}', b'{"a": ""}'])
def test_a_file_that_is_not_what_its_name_says_is_not_read(shelf, content):
    (shelf._folder / NAME).write_bytes(content)
    assert shelf.find(NAME) is None


def test_links_are_not_followed(shelf, tmp_path):
    shelf.keep(NAME, FILES)
    moved = tmp_path / "elsewhere"
    (shelf._folder / NAME).rename(moved)
    (shelf._folder / NAME).symlink_to(moved)
    assert shelf.find(NAME) is None


@pytest.mark.parametrize(("limit", "value"), [("MAX_KEPT", 2), ("MAX_KEPT_BYTES", 100)])
def test_the_uploads_asked_for_longest_ago_make_room(shelf, monkeypatch, limit, value):
    monkeypatch.setattr(module, limit, value)
    uploads = [{"p.toml": b"%030d" % k} for k in range(4)]
    for k, files in enumerate(uploads):
        shelf.keep(upload_id(files), files)
        path = shelf._folder / upload_id(files)
        if k < 3 and path.exists():
            os.utime(path, (k, k))
    kept = [shelf.find(upload_id(files)) is not None for files in uploads]
    assert kept[3]
    assert sum(kept) <= 2


def test_a_full_disk_is_no_error_and_leaves_nothing_behind(shelf, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.json, "dump", full)
    shelf.keep(NAME, FILES)
    assert list(shelf._folder.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_at_the_start(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot keep uploads there"):
        Shelf(tmp_path / "file")
