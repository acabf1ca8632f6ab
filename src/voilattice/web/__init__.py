"""The advisor as a server: a page for people and an HTTP API for programs.

What comes in: `questions` (the fields of requests), `malformed` and `cases` (what is wrong with
them), `uploads` and `shelf` (problems that come with a request, and a folder for them),
`connections`, `proxies` and `guards` (what every request passes). What goes out: `schemas` (the
results of `voilattice.documents`, and what the page shows besides), `refusals` (errors),
`description` and `reference` (the OpenAPI document, and a page made from it). In between: `routes`
hands questions to the `advisor`, which has a `catalogue` of problems, `answers` that were given
already, `jobs` and a `pool` of `workers`, which do `tasks`. `metrics` and `logs` tell operators
what happens. `app` puts it together, `serving` runs it until it is stopped, `static` is the page.
Handlers call the functions that the command line calls, and answer with the same documents.
"""

from voilattice.extras import need_extra

need_extra("web", "the server")
