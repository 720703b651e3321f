"""Streams over a real connection; how lines are put together is tested with harness.kube."""

import contextlib
import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import urllib3

from harness.streaming import Stream
from tests.processes import PATIENCE_SECONDS

END = None
BROKEN = b"broken"


@contextlib.contextmanager
def answering() -> Iterator[tuple[Stream, "queue.SimpleQueue[bytes | None]"]]:
    """Yield a stream and what feeds it: chunks, BROKEN for a connection that breaks, END for a proper end."""
    chunks: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while (chunk := chunks.get()) not in (END, BROKEN):
                assert chunk is not None
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.write(b"0\r\n\r\n" if chunk is END else b"ff\r\nhalf")
            self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server, urllib3.PoolManager() as pool:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/"
        response = pool.request("GET", url, preload_content=False, timeout=PATIENCE_SECONDS)
        try:
            yield Stream(response), chunks
        finally:
            chunks.put(END)
            response.close()
            server.shutdown()
            thread.join()


def test_what_arrives_is_handed_over_at_once() -> None:
    with answering() as (stream, chunks):
        arriving = stream.chunks()
        for text in (b"one\n", b"t", b"wo\n"):
            chunks.put(text)
            assert next(arriving) == text
        chunks.put(END)
        assert list(arriving) == []


def test_an_event_is_handed_over_when_its_line_is_whole() -> None:
    with answering() as (stream, chunks):
        events = iter(stream)
        for text in (b'{"a": ', b'1}\n{"b": 2}', b"\n"):
            chunks.put(text)
        assert next(events) == {"a": 1}
        assert next(events) == {"b": 2}


def test_closed_from_another_thread_a_silent_stream_ends() -> None:
    with answering() as (stream, chunks):
        got: list[bytes] = []
        begun = threading.Event()

        def read() -> None:
            for chunk in stream.chunks():
                got.append(chunk)
                begun.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        chunks.put(b"begun")
        assert begun.wait(PATIENCE_SECONDS)
        stream.close()
        reader.join(PATIENCE_SECONDS)
        assert not reader.is_alive()
        assert got == [b"begun"]


def test_closed_before_it_is_read_there_is_nothing_to_read() -> None:
    with answering() as (stream, _):
        stream.close()
        assert list(stream.chunks()) == []


def test_closing_twice_or_after_the_end_does_no_harm() -> None:
    with answering() as (stream, chunks):
        chunks.put(b"all")
        chunks.put(END)
        assert list(stream.chunks()) == [b"all"]
        stream.close()
        stream.close()


def test_a_connection_that_breaks_is_no_end() -> None:
    with answering() as (stream, chunks):
        chunks.put(b"one")
        chunks.put(BROKEN)
        arriving = stream.chunks()
        assert next(arriving) == b"one"
        with pytest.raises(urllib3.exceptions.HTTPError):
            list(arriving)
