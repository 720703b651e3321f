"""The servers that an extender in Python could run on, each serving the same extender through the same `App`.

`python -m bench.candidates NAME PORT` is one of them; it imports nothing that the others need, so that starting it is
as fast as it can be.
"""

import importlib
import sys
from collections.abc import Callable
from typing import Any

from harness.extender.references.pass_through import PassThrough
from harness.extender.serving.app import App, Reply


def threads_httptools(app: App, port: int) -> None:
    """Serve with harness.extender.serving.server."""
    from harness.extender.serving.server import Server  # noqa: PLC0415 - each candidate pays for its own imports only

    Server(app.answer, port).run()


def http_server(app: App, port: int) -> None:
    """Serve with the standard library's threading server."""
    server = importlib.import_module("http.server")

    class Handler(server.BaseHTTPRequestHandler):  # type: ignore[name-defined,misc]
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:  # noqa: N802 - http.server gives the name
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply = app.answer(self.command, self.path, body)
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST  # noqa: N815 - as above

        def log_message(self, *_: Any) -> None:
            pass

    server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


def asyncio_loop(app: App, port: int) -> None:
    """Serve with a bare asyncio protocol that answers in the loop: a blocking bind would stop everything."""
    _asyncio(app, port, threads=False)


def asyncio_threads(app: App, port: int) -> None:
    """Serve with a bare asyncio protocol that hands each call to a thread."""
    _asyncio(app, port, threads=True)


def _asyncio(app: App, port: int, *, threads: bool) -> None:
    import asyncio  # noqa: PLC0415 - each candidate pays for its own imports only

    import httptools  # noqa: PLC0415 - as above

    class Protocol(asyncio.Protocol):
        """HTTP/1.1, no more of it than a measurement needs."""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport: Any = transport
            self.parser = httptools.HttpRequestParser(self)
            self.parts: list[bytes] = []

        def data_received(self, data: bytes) -> None:
            self.parser.feed_data(data)

        def on_url(self, url: bytes) -> None:
            self.url = url

        def on_body(self, body: bytes) -> None:
            self.parts.append(body)

        def on_message_complete(self) -> None:
            call = (self.parser.get_method().decode(), self.url.decode(), b"".join(self.parts))
            self.parts = []
            if threads:
                answering = asyncio.get_running_loop().run_in_executor(None, app.answer, *call)
                answering.add_done_callback(lambda done: self.send(done.result()))
            else:
                self.send(app.answer(*call))

        def send(self, reply: Reply) -> None:
            head = f"HTTP/1.1 {reply.status} OK\r\nContent-Type: {reply.content_type}\r\n"
            self.transport.writelines([f"{head}Content-Length: {len(reply.body)}\r\n\r\n".encode(), reply.body])

    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(Protocol, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(serve())


def uvicorn_asgi(app: App, port: int) -> None:
    """Serve with uvicorn, a bare ASGI function, and a thread per call."""
    import asyncio  # noqa: PLC0415 - each candidate pays for its own imports only

    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        parts, more = [], True
        while more:
            event = await receive()
            parts.append(event.get("body", b""))
            more = event.get("more_body", False)
        reply = await asyncio.to_thread(app.answer, scope["method"], scope["path"], b"".join(parts))
        headers = [(b"content-type", reply.content_type.encode()), (b"content-length", b"%d" % len(reply.body))]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    settings = {"http": "httptools", "lifespan": "off", "access_log": False, "timeout_keep_alive": 120}
    importlib.import_module("uvicorn").run(asgi, host="127.0.0.1", port=port, log_level="warning", **settings)


def aiohttp_server(app: App, port: int) -> None:
    """Serve with aiohttp, and a thread per call."""
    import asyncio  # noqa: PLC0415 - each candidate pays for its own imports only

    web = importlib.import_module("aiohttp.web")

    async def handle(request: Any) -> Any:
        reply = await asyncio.to_thread(app.answer, request.method, request.path, await request.read())
        return web.Response(status=reply.status, body=reply.body, headers={"Content-Type": reply.content_type})

    served = web.Application(client_max_size=2**30)
    served.router.add_route("*", "/{path:.*}", handle)
    settings = {"print": None, "access_log": None, "keepalive_timeout": 120}
    web.run_app(served, host="127.0.0.1", port=port, **settings)


def _wsgi(app: App) -> Callable[..., list[bytes]]:
    def answer(environ: Any, start: Any) -> list[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        reply = app.answer(environ["REQUEST_METHOD"], environ["PATH_INFO"], body)
        start(f"{reply.status} OK", [("Content-Type", reply.content_type), ("Content-Length", str(len(reply.body)))])
        return [reply.body]

    return answer


def gevent_pywsgi(app: App, port: int) -> None:
    """Serve with gevent.pywsgi, nothing patched: a blocking bind would stop everything."""
    pywsgi = importlib.import_module("gevent.pywsgi")
    pywsgi.WSGIServer(("127.0.0.1", port), _wsgi(app), log=None).serve_forever()


def granian_wsgi(app: App, port: int) -> None:
    """Serve with granian, one worker, several blocking threads."""
    granian = importlib.import_module("granian")
    settings = {"interface": "wsgi", "workers": 1, "blocking_threads": 8, "log_enabled": False}
    granian.Granian("bench.candidates:GRANIAN_APP", address="127.0.0.1", port=port, **settings).serve()


CANDIDATES: dict[str, tuple[Callable[[App, int], None], str | None]] = {
    "threads + httptools": (threads_httptools, "httptools"),
    "asyncio + httptools, in the loop": (asyncio_loop, "httptools"),
    "asyncio + httptools, threads": (asyncio_threads, "httptools"),
    "http.server": (http_server, None),
    "uvicorn": (uvicorn_asgi, "uvicorn"),
    "aiohttp": (aiohttp_server, "aiohttp"),
    "gevent.pywsgi": (gevent_pywsgi, "gevent"),
    "granian (WSGI)": (granian_wsgi, "granian"),
}


def pass_through() -> App:
    """Return what every candidate serves; without its log, which would cost all of them the same."""
    return App(PassThrough(), log=lambda _: None)


# Granian imports what it serves by name, in a process of its own.
GRANIAN_APP = _wsgi(pass_through())

if __name__ == "__main__":
    CANDIDATES[sys.argv[1]][0](pass_through(), int(sys.argv[2]))
