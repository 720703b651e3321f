"""TLS of one connection without its socket: bytes in, bytes out, so that whoever has the socket never waits."""

import ssl

from harness.extender.subject.tls import Tls

_RECORD_BYTES = 1 << 16


class Seal:
    """What is sent before both sides have agreed is kept until they have."""

    def __init__(self, tls: Tls) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = tls.context.wrap_bio(self._incoming, self._outgoing, server_hostname=tls.name)
        self._agreed = False
        self._kept = b""
        self.ended = False
        """The other side has said that nothing more comes."""

    def sealed(self, data: bytes) -> bytes:
        """Return what has to go over the line for some bytes: they themselves, or first the greeting."""
        self._kept += data
        self._go_on()
        return self._outgoing.read()

    def opened(self, data: bytes) -> tuple[bytes, bytes]:
        """Return what was in bytes that came over the line, and what has to go back because of them.

        Raises:
            ssl.SSLError: the two cannot agree, or what came is no TLS.
        """
        self._incoming.write(data)
        self._go_on()
        parts = []
        try:
            while self._agreed and not self.ended:
                parts.append(self._tls.read(_RECORD_BYTES))
                self.ended = not parts[-1]
        except ssl.SSLWantReadError:
            pass
        return b"".join(parts), self._outgoing.read()

    def _go_on(self) -> None:
        if not self._agreed:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                return
            self._agreed = True
        rest = memoryview(self._kept)
        while rest:
            rest = rest[self._tls.write(rest) :]
        self._kept = b""
