"""Results as JSON, for scripts: each is declared once, with a description of every key.

`declaration` says what a declaration is and makes the JSON object of a result; `problems`, `sets`,
`policies`, `consultations` and `tables` declare the results, along the data flow; `printed` says
which of them each command prints. The server sends them too, and its schemas and the page of the
reference are made of them. Features inside a set are sorted by name; floats are not rounded.
"""

from voilattice.documents.declaration import Document, Json, key

__all__ = ["Document", "Json", "key"]
