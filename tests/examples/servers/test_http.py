# SPDX-License-Identifier: MIT
"""The HTTP servers: what they answer, in each build, also to clients that are slow or hostile."""

import http.client
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import BUILDS, PATIENCE, Client, Server, running

BIG = os.urandom(3_000_000)
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
INDEX = b"<h1>Hello</h1>\n"


@pytest.fixture(scope="module")
def www(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory to serve, beside one that must not be."""
    above = tmp_path_factory.mktemp("http")
    (above / "secret").write_text("secret")
    root = above / "www"
    (root / "sub" / "deeper").mkdir(parents=True)
    (root / "index.html").write_bytes(INDEX)
    (root / "sub" / "index.html").write_text("sub")
    (root / "big.bin").write_bytes(BIG)
    (root / "empty.txt").write_bytes(b"")
    (root / "with space & ü.txt").write_text("named")
    (root / "out").symlink_to(above / "secret")
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    (root / "inside").symlink_to("sub/index.html")
    os.mkfifo(root / "fifo")
    for size in (16000, 16384, 16385, 65536):
        (root / f"size-{size}").write_bytes(BIG[:size])
    return root


@pytest.fixture(scope="module", params=BUILDS)
def program(request: pytest.FixtureRequest, examples: Path) -> Path:
    return examples / "servers" / f"http_{request.param}"


@pytest.fixture(scope="module")
def server(program: Path, www: Path) -> Iterator[Server]:
    with running(program, www) as server:
        yield server


def head(client: Client) -> tuple[int, dict[str, str]]:
    """The status and the fields of a reply; its body is left."""
    first, *fields = client.until(b"\r\n\r\n").decode().rstrip().split("\r\n")
    version, status, _ = first.split(" ", 2)
    assert version == "HTTP/1.1"
    pairs = [field.split(": ", 1) for field in fields]
    return int(status), {name: value for name, value in pairs}


def ask(server: Server, request: bytes) -> tuple[int, dict[str, str], bytes]:
    with server.connect() as client:
        client.sendall(request)
        status, fields = head(client)
        return status, fields, client.exactly(int(fields["Content-Length"]))


def get(server: Server, path: str) -> tuple[int, dict[str, str], bytes]:
    return ask(server, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())


# ---- files ----


def test_files_by_an_ordinary_client(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    expected = {
        "/": (INDEX, "text/html; charset=utf-8"),
        "/index.html": (INDEX, "text/html; charset=utf-8"),
        "/sub/": (b"sub", "text/html; charset=utf-8"),
        "/sub/deeper/../index.html?query": (b"sub", "text/html; charset=utf-8"),
        "/inside": (b"sub", "application/octet-stream"),
        "/big.bin": (BIG, "application/octet-stream"),
        "/empty.txt": (b"", "text/plain; charset=utf-8"),
        "/with%20space%20&%20%c3%bC.txt": (b"named", "text/plain; charset=utf-8"),
    }
    for path, (body, kind) in expected.items():
        for method in ("GET", "HEAD"):
            connection.request(method, path)
            reply = connection.getresponse()
            assert (reply.status, reply.getheader("Content-Type")) == (200, kind)
            assert reply.getheader("Content-Length") == str(len(body))
            assert reply.read() == (body if method == "GET" else b"")


@pytest.mark.parametrize("size", [16000, 16384, 16385, 65536])
def test_sizes_around_the_buffer(server: Server, size: int) -> None:
    assert get(server, f"/size-{size}")[::2] == (200, BIG[:size])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nowhere", 404),
        ("/index.html/below", 404),
        ("/sub/deeper/", 404),
        ("/" + "n" * 300, 404),
        ("/fifo", 403),
        ("/out", 403),
        ("/up/secret", 403),
        ("/loop", 403),
        ("/../secret", 403),
        ("/sub/../../secret", 403),
        ("/%2e%2e/secret", 403),
        ("/..%2fsecret", 403),
        ("//../secret", 403),
        ("/%", 400),
        ("/%4", 400),
        ("/%zz", 400),
        ("/%00", 400),
        ("/index.html%00.txt", 400),
        ("relative", 400),
        ("*", 400),
        ("http://host", 400),
    ],
)
def test_what_is_not_served(server: Server, path: str, status: int) -> None:
    found, fields, body = get(server, path)
    assert found == status
    assert body and b"secret" not in body
    assert int(fields["Content-Length"]) == len(body)


def test_unreadable_files_are_forbidden(program: Path) -> None:
    """Run as nobody when root, whom no permission stops, and so from a place open to all."""
    place = Path(tempfile.mkdtemp(prefix="ferry-http-"))
    try:
        place.chmod(0o755)
        shutil.copy(program, place)
        (place / "closed").touch(0)
        user = 65534 if os.geteuid() == 0 else None
        with running(place / program.name, place, user=user) as server:
            assert get(server, "/closed")[0] == 403
    finally:
        shutil.rmtree(place)


def test_a_directory_without_a_slash_is_redirected(server: Server) -> None:
    for path in ("/sub", "//sub", "///sub"):  # never to //sub, which is another host
        status, fields, _ = get(server, path)
        assert (status, fields["Location"]) == (301, "/sub/")


def test_absolute_targets(server: Server) -> None:
    assert get(server, "http://somewhere:80/sub/")[::2] == (200, b"sub")


# ---- requests ----


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        (b"GET /\r\n\r\n", 400),
        (b"GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET / http/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        (b"G\x01T / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nNo-Colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\0y\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\ry\r\n\r\n", 400),
        (b"GET / HTTP/1.1\nHost: x\n\n", 400),
        (b"\0\0\0\0\r\n\r\n", 400),
        (b"\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nGET / HTTP/1.1", 405),
        (b"DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"GET / HTTP/1.1\r\nHost: x\r\nLong: " + b"x" * 9000, 431),
        (b"G" * 9000, 431),
    ],
)
def test_bad_requests(server: Server, request_: bytes, status: int) -> None:
    """One that the server cannot trust the rest of is the last of its connection."""
    with server.connect() as client:
        client.sendall(request_)
        found, fields = head(client)
        assert found == status
        client.exactly(int(fields["Content-Length"]))
        if fields["Connection"] == "close":
            client.shutdown(socket.SHUT_WR)
            assert client.rest() == b""
        else:
            client.sendall(GET)
            assert head(client)[0] == 200
        assert ("Allow" in fields) == (status == 405)


def test_connections_are_kept_as_the_versions_say(server: Server) -> None:
    for request_, kept in (
        (GET, True),
        (GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), False),
        (GET.replace(b"\r\n\r\n", b"\r\nconnection: TE,\tClose\r\n\r\n"), False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", True),
    ):
        with server.connect() as client:
            client.sendall(request_)
            status, fields = head(client)
            assert (status, fields["Connection"]) == (200, "keep-alive" if kept else "close")
            assert client.exactly(len(INDEX)) == INDEX
            if kept:
                client.sendall(GET)
                assert head(client)[0] == 200
            else:
                assert client.rest() == b""


def test_requests_in_a_row(server: Server) -> None:
    """Sent at once, all are answered in order, and a large reply may come first."""
    with server.connect() as client:
        big = b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n"
        missing = b"HEAD /nowhere HTTP/1.1\r\nHost: x\r\n\r\n"
        client.sendall(big + (GET + missing) * 500)
        assert head(client)[1]["Content-Length"] == str(len(BIG))
        assert client.exactly(len(BIG)) == BIG
        for _ in range(500):
            assert head(client)[0] == 200
            assert client.exactly(len(INDEX)) == INDEX
            assert head(client)[0] == 404


def test_a_request_byte_by_byte(server: Server) -> None:
    with server.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(len(GET)):
            client.sendall(GET[i : i + 1])
            time.sleep(0.002)
        assert head(client)[0] == 200
        assert client.exactly(len(INDEX)) == INDEX


# ---- clients that do not behave ----


def test_resets_and_half_requests_leave_nothing_behind(server: Server) -> None:
    before = server.descriptors()
    for i in range(200):
        client = server.connect()
        client.sendall((GET, b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n", GET[:9], b"")[i % 4])
        client.reset() if i % 3 else client.close()
    assert get(server, "/")[0] == 200  # now all before it have been accepted
    assert server.settles_at(before)


def test_who_does_not_read_holds_up_nobody(server: Server) -> None:
    """Not even many who asked for a large file."""
    clients = [server.connect() for _ in range(100)]
    for client in clients:
        client.sendall(b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n")
    for _ in range(10):
        assert get(server, "/")[::2] == (200, INDEX)
    assert head(clients[-1])[0] == 200
    assert clients[-1].exactly(len(BIG)) == BIG
    for client in clients:
        client.reset()


def test_the_slow_are_cut_off(program: Path, www: Path) -> None:
    """Whether they send nothing, half a request a byte at a time, or do not read."""
    with running(program, "-t", "1", www) as server:
        before = server.descriptors()
        silent, slow, deaf = server.connect(), server.connect(), server.connect()
        deaf.sendall(b"GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n" * 5)
        end = time.monotonic() + PATIENCE
        gone = False
        while not gone and time.monotonic() < end:
            try:
                slow.sendall(b"G")
                time.sleep(0.1)
            except OSError:
                gone = True
        assert gone and silent.ends()
        assert server.settles_at(before)
        deaf.close()
        assert get(server, "/")[0] == 200


def test_more_clients_than_connections(program: Path, www: Path) -> None:
    """The others wait until one leaves."""
    with running(program, "-c", "2", www) as server:
        first, second, third = (server.connect() for _ in range(3))
        for client in (first, second, third):
            client.sendall(GET)
        assert head(first)[0] == head(second)[0] == 200
        third.settimeout(0.3)
        with pytest.raises(TimeoutError):
            third.recv(1)
        third.settimeout(PATIENCE)
        first.close()
        assert head(third)[0] == 200


def test_few_descriptors(program: Path, www: Path) -> None:
    """The limit on open files limits the connections, each of which may need a file."""
    with running(program, www, shell='ulimit -n 72; exec "$@"') as server:
        clients = [server.connect() for _ in range(60)]
        for client in clients:
            client.sendall(GET)
        for client in clients[:20]:
            assert head(client)[0] == 200
        assert server.descriptors() <= 72
        for client in clients[:40]:
            client.close()
        for client in clients[40:]:
            assert head(client)[0] == 200


def test_thousands_of_connections(program: Path, www: Path) -> None:
    with running(program, www) as server:
        before = server.descriptors()
        for _ in range(3):
            clients = [server.connect() for _ in range(1000)]
            for client in clients:
                client.sendall(GET)
            for client in clients:
                assert head(client)[0] == 200
                client.close()
        assert server.settles_at(before)


def test_a_file_that_becomes_shorter_ends_the_connection(program: Path, tmp_path: Path) -> None:
    """The reply cannot be completed, so it must not look complete."""
    (tmp_path / "file").write_bytes(bytes(50_000_000))
    with running(program, tmp_path) as server, server.connect() as client:
        client.sendall(b"GET /file HTTP/1.1\r\nHost: x\r\n\r\n")
        assert head(client)[1]["Content-Length"] == "50000000"
        os.truncate(tmp_path / "file", 10)
        assert len(client.rest()) < 50_000_000


# ---- the command line ----


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "name one directory"),
        (["/nowhere"], "cannot open the directory '/nowhere'"),
        (["-p", "x", "/"], "-p is 'x'"),
        (["-a", "nobody", "/"], "-a is 'nobody': it must be an IPv4 address"),
        (["-z", "/"], "--help"),
    ],
)
def test_a_wrong_command_line(program: Path, args: list[str], message: str) -> None:
    done = subprocess.run([program, *args], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
