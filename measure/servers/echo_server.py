# SPDX-License-Identifier: MIT
"""An echo server on loopback with a thread for each connection, for `ferry bench threads`.

Usage: echo_server.py PORT
"""

import socket
import socketserver
import sys


class Echo(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := self.request.recv(64):
            self.request.sendall(data)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Echo).serve_forever()
