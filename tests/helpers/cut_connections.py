"""A proxy before a PostgreSQL server that loses a COMMIT, or the answer to it."""

import contextlib
import socket
import threading

from sqlalchemy.engine import make_url


class Proxy:
    """Passes bytes on between clients and a server. `lose` of the next COMMITs are lost on the way to the server, or
    with `answers_only` the answers to them; the connection ends there. While it is `down`, nobody can connect."""

    def __init__(self, url):
        self._target = make_url(url)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = self._target.set(port=self._listening.getsockname()[1]).render_as_string(hide_password=False)
        self.lose = 0
        self.answers_only = True
        self.down_after = False  # whether to be down from the next loss on
        self.down = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listening.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if self.down:
                client.close()
                continue
            server = socket.create_connection((self._target.host, self._target.port))
            lost = threading.Event()
            for work, ends in ((self._to_server, (client, server)), (self._to_client, (server, client))):
                threading.Thread(target=work, args=(*ends, lost), daemon=True).start()

    def _to_server(self, client, server, lost):
        with both(client, server):
            while data := client.recv(1 << 16):
                if b"COMMIT\0" in data and self.lose:
                    self.lose -= 1
                    self.down = self.down_after
                    lost.set()
                    if not self.answers_only:
                        return
                server.sendall(data)

    def _to_client(self, server, client, lost):
        with both(server, client):
            while data := server.recv(1 << 16):
                if lost.is_set():
                    return
                client.sendall(data)


@contextlib.contextmanager
def both(one, other):
    """Two ends of a connection, which end together."""
    try:
        with contextlib.suppress(OSError):
            yield
    finally:
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
