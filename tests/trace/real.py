# SPDX-License-Identifier: MIT
"""Traces ten programs of Debian that are known to waste time, and shows what is found first.

    python3 tests/trace/real.py [BUILD [NAME...]]

Each row has the command, the kind of waste that is to be first or second, and what was found.
Programs that are not installed are left out.  As root, for BPF.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

QUIET: dict[str, Any] = {
    "stdin": subprocess.DEVNULL,
    "stdout": subprocess.DEVNULL,
    "stderr": subprocess.DEVNULL,
}
Command = Sequence[str | Path]
SECONDS = 3  # that servers are traced


class Absent(Exception):
    """A program is not installed."""


@dataclass(frozen=True)
class Program:
    """What is traced: a command, or a server with the load that it is under meanwhile."""

    name: str
    kinds: tuple[str, ...]  # of findings: one is to be first or second
    command: Command
    load: Command = ()  # with it, COMMAND is a server
    ready: Callable[[], bool] = lambda: True  # the server is
    environment: dict[str, str] = field(default_factory=dict)


def found(*names: str) -> str:
    """The path of a program that may be in sbin."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    for name in names:
        if where := shutil.which(name, path=path):
            return where
    raise Absent(f"{names[0]} is not installed")


# ---- programs ----


def sqlite(work: Path) -> Program:
    rows = "".join(f"insert into t values({n});\n" for n in range(200))
    (work / "rows.sql").write_text(f"create table t(a);\n{rows}")
    command: Command = [found("sqlite3"), work / "rows.db", f".read {work / 'rows.sql'}"]
    return Program("sqlite3, 200 commits", ("sync",), command)


def shell(work: Path) -> Program:
    del work
    loop = 'for n in $(seq 200); do x=$(echo "$n" | sed s/1/2/); done'
    return Program("bash, 200 subshells", ("processes",), [found("bash"), "-c", loop])


def python(work: Path) -> Program:
    directories = [work / f"path{n}" for n in range(60)]
    for directory in directories:
        directory.mkdir()
    modules = "json, asyncio, email.mime.text, http.server, unittest, xml.dom.minidom"
    return Program(
        "python3, 60 directories in PYTHONPATH",
        ("question", "search"),
        ["/usr/bin/python3", "-c", f"import {modules}"],
        environment={"PYTHONPATH": ":".join(map(str, directories))},
    )


def tar(work: Path) -> Program:
    small = work / "small"
    small.mkdir()
    for n in range(3000):
        (small / f"file{n}").write_text("x" * 700)
    return Program(
        "tar, 3,000 small files", ("question",), [found("tar"), "-cf", work / "small.tar", small]
    )


def git(work: Path) -> Program:
    repository = work / "repository"
    for n in range(300):
        (repository / f"directory{n}").mkdir(parents=True)
        for k in range(5):
            (repository / f"directory{n}" / f"file{k}").write_text(f"{n}\n")
        (repository / f"directory{n}" / f"made.ignored{n}").write_text("not in the repository")
    (repository / ".gitignore").write_text("".join(f"*.ignored{n}\n" for n in range(2000)))
    command = [found("git"), "-C", str(repository)]
    author = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for arguments in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "files"]):
        subprocess.run([*command, *arguments], check=True, **QUIET)
    return Program("git status, 2,000 patterns", ("search",), [*command, "status"])


def apt(work: Path) -> Program:
    del work
    return Program("apt list", ("tiny",), [found("apt"), "list"])


def gcc(work: Path) -> Program:
    directories = [work / f"include{n}" for n in range(60)]
    for directory in directories:
        directory.mkdir()
    names = [f"header{n}.h" for n in range(200)]
    for name in names:
        (directories[-1] / name).write_text("extern int declared;\n")
    source = work / "program.c"
    source.write_text("".join(f"#include <{name}>\n" for name in names))
    options = [option for one in directories for option in ("-I", str(one))]
    command: Command = [found("gcc"), "-E", *options, source, "-o", "/dev/null"]
    return Program("gcc -E, 60 -I directories", ("search",), command)


# ---- servers ----


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def redis(work: Path) -> Program:
    port = free_port()
    where: Command = ["--port", str(port), "--dir", work, "--save", ""]
    server: Command = [
        found("redis-server"),
        *where,
        "--appendonly",
        "yes",
        "--appendfsync",
        "always",
    ]
    load = [found("redis-benchmark"), "-p", str(port), "-q", "-t", "set", "-c", "8"]
    return Program(
        "redis-server, appendfsync always",
        ("sync",),
        server,
        [*load, "-n", "1000000"],
        lambda: answers(port),
    )


NGINX = """
user root; daemon off; worker_processes 1; error_log /dev/null; pid {work}/nginx.pid;
events {{ }}
http {{ access_log off; server {{ listen 127.0.0.1:{port}; root {work}; }} }}
"""


def nginx(work: Path) -> Program:
    port = free_port()
    work.chmod(0o755)
    (work / "x.bin").write_bytes(b"x" * 4096)
    (work / "nginx.conf").write_text(NGINX.format(work=work, port=port))
    load = [found("wrk"), "-t1", "-c", "8", "-d", "60", f"http://127.0.0.1:{port}/x.bin"]
    return Program(
        "nginx without open_file_cache",
        ("reopened",),
        [found("nginx"), "-p", work, "-c", work / "nginx.conf"],
        load,
        lambda: answers(port),
    )


def mariadb(work: Path) -> Program:
    data, at = work / "mysql", work / "my.sock"
    server = found("mariadbd", "mysqld")
    load = [found("mysqlslap"), f"--socket={at}", "--concurrency=16", "--user=root"]
    load += ["--create-schema=test"]
    make = [found("mariadb-install-db", "mysql_install_db"), f"--datadir={data}", "--user=root"]
    subprocess.run([*make, "--auth-root-authentication-method=normal"], check=True, **QUIET)
    options = [f"--datadir={data}", f"--socket={at}", "--skip-networking", "--user=root"]
    return Program(
        "mariadbd, a thread for each connection",
        ("switches",),
        [server, "--no-defaults", *options, f"--pid-file={work / 'my.pid'}"],
        [*load, "--number-of-queries=10000000", "--query=select 1"],
        at.exists,
    )


PROGRAMS: dict[str, Callable[[Path], Program]] = {
    "sqlite": sqlite,
    "redis": redis,
    "shell": shell,
    "nginx": nginx,
    "mariadb": mariadb,
    "python": python,
    "tar": tar,
    "git": git,
    "apt": apt,
    "gcc": gcc,
}


# ---- tracing ----


@contextmanager
def started(command: Command) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, **QUIET)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def trace(ferry: Path, options: Command, environment: dict[str, str]) -> Any:  # noqa: ANN401
    done = subprocess.run(
        [ferry, "trace", "--json", "--method", "bpf", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | environment,
        timeout=120,
        check=True,
    )
    return json.loads(done.stdout)


def report_of(ferry: Path, program: Program) -> Any:  # noqa: ANN401
    if not program.load:
        # The first run finds paths and files in no cache.
        if "sync" not in program.kinds:
            subprocess.run(program.command, env=os.environ | program.environment, **QUIET)
        return trace(ferry, program.command, program.environment)
    with started(program.command) as server:
        for _ in range(300):
            if program.ready():
                break
            time.sleep(0.1)
        with started(program.load):
            time.sleep(1)
            options = ["--duration", str(SECONDS), "--pid", str(server.pid)]
            return trace(ferry, options, {})


def place(report: Any, program: Program) -> int:  # noqa: ANN401
    """Of the first finding that is looked for, from 1; 0 where there is none."""
    kinds = [finding["kind"] for finding in report["findings"]]
    return next((n for n, kind in enumerate(kinds, 1) if kind in program.kinds), 0)


def shown(finding: dict[str, Any]) -> str:
    share = f", {100 * finding['share']:.1f} %" if finding["share"] else ""
    return f"{finding['what']}{share}"


def main() -> None:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
    print("| program | looked for | named | what saves most |")
    print("| --- | --- | ---: | --- |")
    for name, make in PROGRAMS.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as directory:
            try:
                program = make(Path(directory))
            except Absent as why:
                print(f"| {name} | - | - | {why} |")
                continue
            report = report_of(build / "cli" / "ferry", program)
            first = shown(report["findings"][0]) if report["findings"] else "nothing"
            kinds = " or ".join(program.kinds)
            print(f"| {program.name} | {kinds} | {place(report, program)} | {first} |", flush=True)


if __name__ == "__main__":
    main()
