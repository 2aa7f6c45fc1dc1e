# SPDX-License-Identifier: MIT
"""Downloads Debian packages with a package state of its own.

Nothing of the machine's package configuration is changed, nothing is installed, and no
root is needed.  The machine's configuration gives only the mirror and how to reach it.
"""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from lab import LabError
from lab.cache import cache_root, log_file, make_directory, new_log
from lab.debian.mirrors import find_mirror
from lab.process import run_to

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
REACHING = re.compile(r"Acquire::(?!IndexTargets|Changelogs|Languages|CompressionTypes)\S+ \".+\";")


def transport_options() -> str:
    """How this machine reaches its mirrors: proxies, retries, time-outs."""
    dump = subprocess.run(
        ["apt-config", "dump", "Acquire"], stdout=subprocess.PIPE, text=True, check=False
    )
    return "".join(f"{line}\n" for line in dump.stdout.splitlines() if REACHING.fullmatch(line))


def private_state(suites: Sequence[str], kind: str = "deb", arch: str = "") -> dict[str, str]:
    """Makes a package state that knows SUITES only; the environment to use it.

    KIND is the first word of its lines of sources.list: deb or deb-src.  ARCH is Debian's name of
    the packages' architecture, unless they are for this machine.
    """
    if not KEYRING.exists():
        raise LabError(f"{KEYRING} is missing; the Debian package debian-archive-keyring holds it")
    name = "+".join(suites) + kind.removeprefix("deb") + (arch and f"-{arch}")
    state = make_directory(cache_root() / "apt" / name)
    for folder in ("lists/partial", "archives/partial", "parts"):
        make_directory(state / folder)
    (state / "sources.list").write_text(
        "".join(
            f"{kind} [signed-by={KEYRING}] {find_mirror(suite)} {suite} main\n" for suite in suites
        )
    )
    (state / "status").touch()
    (state / "apt.conf").write_text(
        transport_options()
        + (arch and f'APT::Architecture "{arch}";\nAPT::Architectures {{"{arch}";}};\n')
        + f'Dir::Etc::SourceList "{state}/sources.list";\n'
        + f'Dir::Etc::SourceParts "{state}/parts";\n'
        + f'Dir::Etc::Parts "{state}/parts";\n'
        + f'Dir::Etc::Main "{state}/parts/none";\n'
        + f'Dir::Etc::Preferences "{state}/parts/none";\n'
        + f'Dir::Etc::PreferencesParts "{state}/parts";\n'
        + f'Dir::State "{state}";\n'
        + f'Dir::State::Status "{state}/status";\n'
        + f'Dir::Cache "{state}";\n'
        + 'Acquire::Languages "none";\n'
        + 'APT::Sandbox::User "";\n'
    )
    return os.environ | {"APT_CONFIG": str(state / "apt.conf"), "LC_ALL": "C"}


def run_apt(command: Sequence[str], env: Mapping[str, str], package: str, cwd: Path) -> str:
    """What a command of apt prints, which is kept in the log `fetch`, too."""
    log = log_file("fetch")
    output = bytearray()
    if run_to(log, command, env=env, cwd=cwd, feed=output.extend):
        raise LabError(
            f"cannot fetch {package}: {first_error(log)};"
            f" the next run tries again, and {log} has all messages"
        )
    return output.decode(errors="replace")


def first_error(log: Path) -> str:
    """apt's last words that say why."""
    lines = log.read_text(errors="replace").splitlines()
    for prefix in ("E: Failed to fetch", "E: ", "Err:", "W: Failed to fetch"):
        for line in reversed(lines[-40:]):
            if line.startswith(prefix):
                return " ".join(line.removeprefix("E: ").removeprefix("W: ").split())
    return "apt-get failed"


def updated_state(
    package: str, suites: Sequence[str], directory: Path, kind: str = "deb", arch: str = ""
) -> dict[str, str]:
    """A package state of what the mirrors offer now; the environment to use it."""
    env = private_state(suites, kind, arch)
    new_log("fetch")
    # Without this option a mirror that cannot be reached is only a warning.
    run_apt(
        ["apt-get", "-q", "-o", "APT::Update::Error-Mode=any", "update"], env, package, directory
    )
    return env


def newest(start: str, rest: str, suites: Sequence[str], directory: Path, arch: str = "") -> str:
    """The name with the highest version among the names of START followed by a match of REST."""
    env = updated_state(start, suites, directory, arch=arch)
    names = run_apt(["apt-cache", "pkgnames", start], env, start, directory).split()
    found = [name for name in names if re.fullmatch(rest, name.removeprefix(start))]
    if not found:
        raise LabError(f"Debian's {' or '.join(suites)} has no package that matches {start}{rest}")
    return max(found, key=lambda name: [int(number) for number in re.findall(r"\d+", name)])


def depends_on(package: str, suites: Sequence[str], arch: str = "") -> list[str]:
    """The packages that PACKAGE names as those it depends on."""
    command = ["apt-cache", "depends", package]
    shown = run_apt(command, private_state(suites, arch=arch), package, cache_root())
    return re.findall(r"^\W*Depends: (\S+)", shown, re.M)


def newest_file(package: str, suites: Sequence[str], directory: Path) -> Path:
    """The file of the newest PACKAGE in SUITES as it is in DIRECTORY after a download."""
    env = updated_state(package, suites, directory)
    # apt names no file that is in its directory already.
    elsewhere = make_directory(directory / "partial")
    listed = run_apt(
        ["apt-get", "-q", "download", "--print-uris", package], env, package, elsewhere
    )
    match = re.search(r"^'[^']*' (\S+\.deb) ", listed, re.M)
    if not match:
        raise LabError(f"{package} is not in Debian's {' or '.join(suites)}: apt names no file")
    return directory / match[1]


def download(
    packages: Sequence[str], suites: Sequence[str], directory: Path, arch: str = ""
) -> None:
    """The files of the newest PACKAGES in SUITES; apt verifies signatures and checksums."""
    command = ["apt-get", "-q", "download", *packages]
    run_apt(command, private_state(suites, arch=arch), packages[0], directory)


def download_all(
    packages: Sequence[str], suites: Sequence[str], directory: Path, arch: str
) -> None:
    """The files of the newest PACKAGES for ARCH in SUITES, and of all that they depend on."""
    env = updated_state(packages[0], suites, directory, arch=arch)
    make_directory(directory / "partial")
    command = ["apt-get", "-q", "-y", "--download-only", "--no-install-recommends"]
    command += ["-o", f"Dir::Cache::Archives={directory}", "install", *packages]
    run_apt(command, env, packages[0], directory)


def downloaded(package: str, suites: Sequence[str], directory: Path) -> Path:
    """The newest PACKAGE in SUITES as a file in DIRECTORY; downloaded unless it is there."""
    path = newest_file(package, suites, directory)
    if not path.exists():
        partial = make_directory(directory / "partial")
        download([package], suites, partial)
        os.replace(partial / path.name, path)
    return path


def downloaded_source(package: str, suites: Sequence[str], directory: Path) -> Path:
    """The original source of the newest PACKAGE in SUITES, without Debian's changes, in DIRECTORY.

    Downloaded when there is none.
    """
    pattern = f"{package}_*.orig.tar.*"
    if not list(directory.glob(pattern)):
        partial = make_directory(directory / "partial")
        env = updated_state(package, suites, partial, "deb-src")
        command = ["apt-get", "-q", "source", "--download-only", "--tar-only", package]
        run_apt(command, env, package, partial)
        for file in partial.glob(pattern):
            os.replace(file, directory / file.name)
    return max(directory.glob(pattern))


def version_of(package_file: Path) -> str:
    """The Debian version in the name of a package's file."""
    return unquote(package_file.name.split("_")[1])
