"""A server that does nothing, as a process of its own: what the load's client measures of it is the client's own share.

Reads requests by their Content-Length and answers each with the same few bytes. Speaks only as much HTTP as the client.
"""

import argparse
import select
import socket
import sys

from harness import lifeline

LOOPBACK = "127.0.0.1"
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n"
    b'{"NodeNames":[],"FailedNodes":{},"Error":""}      '
)
_LENGTH = b"content-length:"
_END = b"\r\n\r\n"


class _Client:
    """One connection: how many bytes of the request are missing, None while its head is not whole."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.head = b""
        self.missing = 0

    def take(self, room: memoryview) -> bool:
        """Read what is there and answer what is whole; False when the client has left."""
        try:
            count = self.connection.recv_into(room)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not count:
            return False
        if self.missing:
            # A client of ours sends nothing before it has its answer.
            self.missing -= count
        else:
            self.head += bytes(room[: min(count, 4096)])
            place = self.head.find(_END)
            if place < 0:
                return len(self.head) < len(room)
            length = int(self.head[:place].lower().partition(_LENGTH)[2].partition(b"\r\n")[0] or 0)
            got = len(self.head) + max(0, count - 4096) - place - len(_END)
            self.head = b""
            self.missing = length - got
        if self.missing == 0:
            try:
                self.connection.send(ANSWER)
            except OSError:
                return False
        return True


def serve(port: int) -> None:
    """Answer until the process ends; prints its port when it listens."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((LOOPBACK, port))
    listener.listen(1024)
    print(listener.getsockname()[1], flush=True)  # noqa: T201 - this is how it is found
    poller = select.epoll() if hasattr(select, "epoll") else select.poll()
    poller.register(listener.fileno(), select.POLLIN)
    clients: dict[int, _Client] = {}
    room = memoryview(bytearray(1 << 20))
    while True:
        for fd, _ in poller.poll():
            if fd == listener.fileno():
                connection, _ = listener.accept()
                connection.setblocking(False)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                clients[connection.fileno()] = _Client(connection)
                poller.register(connection.fileno(), select.POLLIN)
            elif not clients[fd].take(room):
                poller.unregister(fd)
                clients.pop(fd).connection.close()


def main() -> None:
    """Serve, and end with whoever started us."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    lifeline.hold()
    try:
        serve(parser.parse_args().port)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
