# SPDX-License-Identifier: MIT
"""The kernel's audit netlink interface: rules and their records.  See <linux/audit.h>."""

import os
import socket
import struct
from typing import Self

NETLINK_AUDIT = 9
SET, ADD_RULE, DELETE_RULE, SYSCALL = 1001, 1011, 1012, 1300
REQUEST_AND_ACK = 0x5
ERROR = 2
ENABLED, PID, BACKLOG_LIMIT = 0x1, 0x4, 0x10  # bits of the mask of SET
AT_EXIT, ALWAYS = 4, 2
FIELD_PARENT, EQUAL = 18, 0x40000000
BACKLOG = 8192  # records that may wait
RECEIVE_BUFFER = 33  # SO_RCVBUFFORCE, which this Python does not name
HEADER = struct.Struct("=IHHII")


class AuditLink:
    """A context manager that enables audit and sends its records to this process."""

    def __init__(self) -> None:
        """Raises OSError if audit is not available, or not to this user."""
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_AUDIT)
        self.socket.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER, 1 << 24)
        self.socket.settimeout(20)
        self.rules: list[bytes] = []
        self.records: list[str] = []

    def __enter__(self) -> Self:
        self.switch(True)
        return self

    def __exit__(self, *_: object) -> None:
        for rule in self.rules:
            self.request(DELETE_RULE, rule)
        self.switch(False)
        self.socket.close()

    def switch(self, on: bool) -> None:
        owner = os.getpid() if on else 0
        words = [ENABLED | PID | BACKLOG_LIMIT, int(on), 0, owner, 0, BACKLOG, 0, 0, 0, 0]
        self.request(SET, struct.pack("=10I", *words))

    def log_children(self) -> None:
        """Adds a rule that logs every call of processes that this one starts."""
        mask = [0xFFFFFFFF] * 64
        fields = [FIELD_PARENT] + [0] * 63
        values = [os.getpid()] + [0] * 63
        operators = [EQUAL] + [0] * 63
        words = [AT_EXIT, ALWAYS, 1, *mask, *fields, *values, *operators, 0]
        rule = struct.pack(f"={len(words)}I", *words)
        self.request(ADD_RULE, rule)
        self.rules.append(rule)

    def request(self, kind: int, payload: bytes) -> None:
        """Raises OSError if the kernel refuses.  Keeps the records that arrive meanwhile."""
        header = HEADER.pack(HEADER.size + len(payload), kind, REQUEST_AND_ACK, 0, 0)
        self.socket.sendto(header + payload, (0, 0))
        while True:
            answer, body = self.receive()
            if answer != ERROR:
                continue
            (number,) = struct.unpack_from("=i", body)
            if number:
                raise OSError(-number, os.strerror(-number))
            return

    def wait_for(self, text: str, times: int) -> None:
        """Waits until that many records contain TEXT, and fails after a while."""
        while sum(text in record for record in self.records) < times:
            self.receive()

    def receive(self) -> tuple[int, bytes]:
        message = self.socket.recv(65536)
        _, kind, _, _, _ = HEADER.unpack_from(message)
        body = message[HEADER.size :]
        if kind == SYSCALL:
            self.records.append(body.decode(errors="replace"))
        return kind, body
