# SPDX-License-Identifier: MIT
"""Minimal Debian roots: one per release in the lab's cache, and a copy for each use."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab import LabError
from lab.cache import cache_root, locked, make_directory
from lab.debian.mirrors import find_mirror
from lab.debian.packages import KEYRING, transport_options

CODENAMES = {"12": "bookworm", "13": "trixie"}
# What a newcomer has: make, and git or another way to get the sources, which is not needed inside.
INCLUDED = "ca-certificates,make"
KEPT_DAYS = 7
INSIDE = Path(__file__).with_name("inside")
# How this machine reaches the outside.
NETWORK = re.compile(
    r"(?i)(https?|ftp|no|all)_proxy|SSL_CERT_FILE|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE"
    r"|PIP_(CERT|INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|PROXY|DEFAULT_TIMEOUT|RETRIES)"
)
COPIED = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")


def alone(command: Sequence[str | Path]) -> list[str]:
    """COMMAND with mounts and processes of its own, which end with it and with this process."""
    unshare = ["unshare", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--"]
    return ["setpriv", "--pdeathsig", "KILL", "--", *unshare, *map(str, command)]


@contextlib.contextmanager
def running(command: Sequence[str | Path], output: Path) -> Iterator[subprocess.Popen[bytes]]:
    """COMMAND, alone; killed with all it started when the with statement ends before it."""
    with output.open("ab") as log:
        process = subprocess.Popen(
            alone(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def sources(release: str) -> str:
    """The package sources of RELEASE at this machine's own mirrors."""
    name = CODENAMES[release]
    lines = [f"deb {find_mirror(suite)} {suite} main\n" for suite in (name, f"{name}-updates")]
    with contextlib.suppress(LabError):
        lines.append(f"deb {find_mirror(f'{name}-security')} {name}-security main\n")
    return "".join(lines)


def base(release: str) -> Path:
    """The directory of the minimal root of RELEASE; made when there is none, or an old one."""
    folder = make_directory(cache_root() / "fresh")
    root = folder / f"debian-{release}"
    with locked(f"fresh-{release}"):
        if root.exists() and time.time() - root.stat().st_mtime < KEPT_DAYS * 86400:
            return root
        print(f"check-fresh: making a minimal root of Debian {release}", flush=True)
        partial = folder / f".debian-{release}"
        shutil.rmtree(partial, ignore_errors=True)
        bootstrap(release, partial)
        shutil.rmtree(root, ignore_errors=True)
        os.replace(partial, root)
    return root


def bootstrap(release: str, root: Path) -> None:
    log = make_directory(cache_root() / "logs") / f"fresh-debian-{release}.log"
    log.unlink(missing_ok=True)
    options = root.with_name(f"{root.name}.conf")
    options.write_text(transport_options())
    command: list[str | Path] = ["mmdebstrap", "--mode=root", "--variant=minbase", "--format=dir"]
    command += [f"--include={INCLUDED}", f"--aptopt={options}", f"--keyring={KEYRING}"]
    command.append("--dpkgopt=force-unsafe-io")  # a root is thrown away
    lines = sources(release).splitlines()
    with running([*command, CODENAMES[release], root, *lines], log) as process:
        status = process.wait()
    options.unlink()
    if status:
        last = (log.read_text(errors="replace").strip().splitlines() or ["no message"])[-1]
        raise LabError(f"cannot make a root of Debian {release}: {last}; see {log}")
    (root / "etc/apt/sources.list").write_text(sources(release))
    os.utime(root)


@contextlib.contextmanager
def owned(path: Path, wait: bool = True) -> Iterator[None]:
    """Holds the lock of a directory; raises BlockingIOError when another has it."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(directory)


def sweep(folder: Path) -> None:
    """Removes the copies whose owners are gone."""
    for path in folder.glob("use-*"):
        with contextlib.suppress(BlockingIOError, FileNotFoundError), owned(path, wait=False):
            shutil.rmtree(path)


@contextlib.contextmanager
def own_directory(folder: Path) -> Iterator[Path]:
    """An empty directory, removed at the end, or by the next run when this one is killed."""
    with contextlib.ExitStack() as stack:
        with locked("fresh"):  # so that no other run sweeps it before it is owned
            sweep(folder)
            path = Path(tempfile.mkdtemp(prefix="use-", dir=folder))
            stack.enter_context(owned(path))
        stack.callback(shutil.rmtree, path)
        yield path


@contextlib.contextmanager
def fresh_root(release: str) -> Iterator[Path]:
    """A copy of the root of RELEASE, which reaches the network as this machine does."""
    original = base(release)
    with own_directory(original.parent) as directory:
        root = directory / "root"
        subprocess.run(["cp", "-a", "--reflink=auto", original, root], check=True)
        certificates = [value for _, value in network() if Path(value).is_file()]
        for path in map(Path, {*COPIED, *certificates}):
            if path.is_file():
                make_directory((root / path.relative_to("/")).parent)
                shutil.copy(path, root / path.relative_to("/"))
        yield root


def network() -> list[tuple[str, str]]:
    return [(name, value) for name, value in os.environ.items() if NETWORK.fullmatch(name)]


def environment() -> list[str]:
    """Of a shell inside: as for a new user, with what it needs to reach the network."""
    made = {
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "FERRY_CACHE": str(cache_root()),
        "FERRY_FRESH": "1",
        "PIP_LOG": "/root/pip.log",
        "PIP_PROGRESS_BAR": "off",
        **dict(network()),
    }
    return [f"{name}={value}" for name, value in made.items()]


def in_root(root: Path, folder: str, command: Sequence[str]) -> list[str | Path]:
    """What runs COMMAND in FOLDER inside ROOT, as an argument of `running`."""
    return [INSIDE, root, cache_root(), folder, "env", "-i", *environment(), *command]
