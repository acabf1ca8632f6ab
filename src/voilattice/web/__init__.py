"""The advisor as a server: a page for people and an HTTP API for programs.

`uploads` (problems that come with a request), `tasks` (what a worker does), `workers` (processes
that do it), `app` (the routes), `static` (the page). Handlers call the functions that the command
line calls, and answer with the same documents.
"""

from voilattice.extras import need_extra

need_extra("web", "the server")
