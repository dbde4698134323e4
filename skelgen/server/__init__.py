"""The server that `skelgen serve` starts: pages and an API over a store.

In: requests, each answered by a function of `skelgen.server.routes` that asks
`skelgen.pipeline`. Out: pages of `skelgen.web`, or the JSON that the commands print.
Only `app` and `running` know Starlette and uvicorn, which the extra ``web`` installs.
"""
