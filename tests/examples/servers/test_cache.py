# SPDX-License-Identifier: MIT
"""The caches: memcached's text protocol in each build, also with clients that misuse it."""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import BUILDS, PATIENCE, Client, Server, running, soon

MIB = 1 << 20


@pytest.fixture(scope="module", params=BUILDS)
def program(request: pytest.FixtureRequest, examples: Path) -> Path:
    return examples / "servers" / f"cache_{request.param}"


@pytest.fixture(scope="module")
def server(program: Path) -> Iterator[Server]:
    with running(program) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with server.connect() as client:
        yield client


def say(client: Client, command: bytes) -> bytes:
    """The line that answers a command."""
    client.sendall(command)
    return client.until(b"\r\n")[:-2]


def put(client: Client, key: bytes, value: bytes, flags: int = 0, expires: int = 0) -> bytes:
    return say(client, b"set %s %d %d %d\r\n%s\r\n" % (key, flags, expires, len(value), value))


def get(client: Client, *keys: bytes) -> dict[bytes, tuple[int, bytes]]:
    client.sendall(b"get %s\r\n" % b" ".join(keys))
    found = {}
    while (line := client.until(b"\r\n")) != b"END\r\n":
        word, key, flags, length = line.split()
        assert word == b"VALUE"
        found[key] = int(flags), client.exactly(int(length))
        assert client.exactly(2) == b"\r\n"
    return found


# ---- what the protocol says ----


def test_set_get_delete(client: Client) -> None:
    assert get(client, b"a") == {}
    assert put(client, b"a", b"first", flags=7) == b"STORED"
    assert put(client, b"b", b"", flags=2**32 - 1) == b"STORED"
    assert get(client, b"a", b"none", b"b") == {b"a": (7, b"first"), b"b": (2**32 - 1, b"")}
    assert put(client, b"a", b"\r\nEND\r\n\0") == b"STORED"
    assert get(client, b"a") == {b"a": (0, b"\r\nEND\r\n\0")}
    assert say(client, b"delete a\r\n") == b"DELETED"
    assert say(client, b"delete a\r\n") == b"NOT_FOUND"
    assert get(client, b"a", b"b") == {b"b": (2**32 - 1, b"")}


def test_noreply(client: Client) -> None:
    client.sendall(b"set a 0 0 1 noreply\r\n1\r\n")
    assert get(client, b"a") == {b"a": (0, b"1")}
    client.sendall(b"delete a noreply\r\n")
    assert get(client, b"a") == {}
    client.sendall(
        b"delete a 0 noreply\r\nset a 0 0 %d noreply\r\n%s\r\n" % (MIB + 1, b"x" * (MIB + 1))
    )
    assert get(client, b"a") == {}


def test_version_and_quit(client: Client) -> None:
    assert say(client, b"version\r\n").startswith(b"VERSION ")
    client.sendall(b"get a\r\nquit\r\nget a\r\n")
    assert client.rest() == b"END\r\n"


@pytest.mark.parametrize("expires", [-1, 1, pytest.param(None, id="a-time-that-is-over")])
def test_expiry(client: Client, expires: int | None) -> None:
    when = int(time.time()) - 5 if expires is None else expires
    assert put(client, b"mortal", b"x", expires=when) == b"STORED"
    assert put(client, b"lasting", b"x", expires=int(time.time()) + 1000) == b"STORED"
    end = time.monotonic() + PATIENCE
    while expires == 1 and get(client, b"mortal") and time.monotonic() < end:
        time.sleep(0.05)
    assert get(client, b"mortal", b"lasting") == {b"lasting": (0, b"x")}
    assert say(client, b"delete mortal\r\n") == b"NOT_FOUND"


@pytest.mark.parametrize("size", [1, 8191, 16383, 16384, 16385, 32768, 100_000, MIB])
def test_sizes(client: Client, size: int) -> None:
    value = os.urandom(size)
    assert put(client, b"sized", value) == b"STORED"
    assert get(client, b"sized") == {b"sized": (0, value)}


BAD = b"CLIENT_ERROR bad command line format"


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        (b"", b"ERROR"),
        (b"   ", b"ERROR"),
        (b"GET a", b"ERROR"),
        (b"getter a", b"ERROR"),
        (b"get", b"ERROR"),
        (b"get ", b"ERROR"),
        (b"get a\0b", b"ERROR"),
        (b"get " + b"k" * 251, BAD),
        (b"get a " + b"k" * 251, BAD),
        (b"set", b"ERROR"),
        (b"set a", BAD),
        (b"set a 0 0", BAD),
        (b"set a 0 0 -1", BAD),
        (b"set a 0 0 x", BAD),
        (b"set a 0 0 1x", BAD),
        (b"set a 0 0 99999999999999999999", BAD),
        (b"set a -1 0 1", BAD),
        (b"set a 4294967296 0 1", BAD),
        (b"set a 0 soon 1", BAD),
        (b"delete", b"ERROR"),
        (b"delete a 5", BAD),
        (b"delete a 0 noreply more", BAD),
        (b"delete " + b"k" * 251, BAD),
    ],
)
def test_bad_commands(client: Client, line: bytes, reply: bytes) -> None:
    """The connection goes on after them."""
    assert say(client, line + b"\r\n") == reply
    assert put(client, b"a", b"1") == b"STORED"


def test_keys_may_have_250_bytes(client: Client) -> None:
    key = bytes(set(range(1, 256)) - set(b"\t\n\v\f\r ")) + b"k"
    assert put(client, key, b"x") == b"STORED"
    assert get(client, key) == {key: (0, b"x")}


def test_values_that_are_refused_are_not_taken_for_commands(client: Client) -> None:
    """And what was stored before does not outlive them."""
    trap = b"\r\nset trap 0 0 1\r\n1\r\n"
    value = trap + b"x" * (MIB + 1 - len(trap))
    assert put(client, b"large", b"before") == b"STORED"
    assert put(client, b"large", value) == b"SERVER_ERROR object too large for cache"
    assert put(client, b"k" * 251, trap) == BAD
    assert get(client, b"large", b"trap") == {}


def test_a_value_longer_than_announced(client: Client) -> None:
    client.sendall(b"set a 0 0 2\r\nabcdef\r\n")
    assert client.until(b"\r\n") == b"CLIENT_ERROR bad data chunk\r\n"
    assert client.until(b"\r\n") == b"ERROR\r\n"
    assert say(client, b"version\r\n").startswith(b"VERSION ")


def test_a_line_without_an_end(server: Server) -> None:
    with server.connect() as client:
        with contextlib.suppress(ConnectionResetError):
            client.sendall(b"get " + b"k" * 100_000)
        assert client.ends()


# ---- how it may come ----


def test_commands_in_a_row(client: Client) -> None:
    """Sent at once; all are answered, in order."""
    commands = b"".join(
        b"set n%d 0 0 %d\r\n%s\r\nget n%d\r\n" % (i, i, b"x" * i, i) for i in range(1000)
    )
    sender = threading.Thread(target=client.sendall, args=(commands,))
    sender.start()
    for i in range(1000):
        assert client.until(b"\r\n") == b"STORED\r\n"
        assert client.until(b"END\r\n") == b"VALUE n%d 0 %d\r\n%s\r\nEND\r\n" % (i, i, b"x" * i)
    sender.join()


def test_byte_by_byte(client: Client) -> None:
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in b"set a 3 0 4\r\n\r\n\r\n\r\nget a\r\n":
        client.sendall(bytes([byte]))
        time.sleep(0.001)
    assert client.until(b"END\r\n") == b"STORED\r\nVALUE a 3 4\r\n\r\n\r\n\r\nEND\r\n"


def test_many_keys_at_once(client: Client) -> None:
    keys = [b"many-%d" % i for i in range(1000)]
    for key in keys:
        client.sendall(b"set %s 0 0 5 noreply\r\nvalue\r\n" % key)
    assert get(client, *keys) == {key: (0, b"value") for key in keys}


def test_many_large_values_at_once(server: Server, client: Client) -> None:
    """More than anything buffers, to a client that reads late, while others are served."""
    value = os.urandom(MIB)
    assert put(client, b"large", value) == b"STORED"
    line = b"VALUE large 0 %d\r\n" % MIB
    client.sendall(b"get " + b"large " * 100 + b"\r\n")
    assert client.until(b"\r\n") == line
    with server.connect() as other:
        assert get(other, b"large") == {b"large": (0, value)}
        assert say(other, b"delete large\r\n") == b"DELETED"
    assert client.exactly(MIB + 2) == value + b"\r\n"
    count = 1
    while client.until(b"\r\n") == line:
        assert client.exactly(MIB + 2) == value + b"\r\n"
        count += 1
    assert count < 100  # it was deleted meanwhile


# ---- memory ----


def test_old_values_make_room(program: Path) -> None:
    with running(program, "-m", "4") as server, server.connect() as client:
        for i in range(100):
            assert put(client, b"n%d" % i, b"x" * 100_000) == b"STORED"
            assert get(client, b"n0") == {b"n0": (0, b"x" * 100_000)}  # it stays, being used
        kept = get(client, *(b"n%d" % i for i in range(100)))
        assert 30 <= len(kept) < 42
        assert list(kept) == [b"n0", *(b"n%d" % i for i in range(101 - len(kept), 100))]


def test_values_under_way_count(program: Path) -> None:
    """So many uploads do not take more memory than there may be."""
    with running(program, "-m", "4") as server:
        uploads = [server.connect() for _ in range(8)]
        for client in uploads:
            client.sendall(b"set %d 0 0 %d\r\n" % (client.fileno(), MIB) + b"x" * (MIB - 1))
        assert soon(lambda: server.unread() == 0)
        replies = [say(client, b"x\r\n") for client in uploads]
        assert set(replies) == {b"STORED", b"SERVER_ERROR out of memory storing object"}
        with server.connect() as client:
            assert put(client, b"after", b"x" * MIB) == b"STORED"


# ---- clients that do not behave ----


def test_resets_leave_nothing_behind(server: Server) -> None:
    before = server.descriptors()
    for i in range(200):
        client = server.connect()
        client.sendall((b"set a 0 0 1000\r\nxyz", b"get a", b"", b"get a\r\n" * 1000)[i % 4])
        client.reset() if i % 3 else client.close()
    with server.connect() as last:
        get(last, b"b")  # now all before it have been accepted
    assert server.settles_at(before)


def test_the_slow_are_cut_off_but_not_the_idle(program: Path) -> None:
    with running(program, "-t", "1") as server:
        before = server.descriptors()
        with server.connect() as idle, server.connect() as used:
            assert put(used, b"a", b"1") == b"STORED"
            line, value = server.connect(), server.connect()
            line.sendall(b"get")
            value.sendall(b"set a 0 0 1000\r\n")
            assert line.ends() and value.ends()
            assert server.settles_at(before + 2)
            time.sleep(1.5)
            assert get(idle, b"a") == get(used, b"a") == {b"a": (0, b"1")}


def test_thousands_of_connections(program: Path) -> None:
    with running(program) as server:
        before = server.descriptors()
        clients = [server.connect() for _ in range(2000)]
        for i, client in enumerate(clients):
            client.sendall(b"set k%d 0 0 1\r\n1\r\n" % i)
        for i, client in enumerate(clients):
            assert client.until(b"\r\n") == b"STORED\r\n"
            assert get(client, b"k%d" % (len(clients) - 1 - i)) is not None
        for client in clients:
            client.close()
        assert server.settles_at(before)


def test_many_clients_at_a_time(server: Server) -> None:
    """Each reads what somebody stored as a whole, whoever it was."""
    wrong = []

    def work(number: int) -> None:
        value = bytes([number]) * (1 << number)
        with server.connect() as client:
            for _ in range(200):
                if put(client, b"shared", value) != b"STORED":
                    wrong.append(number)
                for _flags, seen in get(client, b"shared").values():
                    if seen != bytes([seen[0]]) * (1 << seen[0]):
                        wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8, 18)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
