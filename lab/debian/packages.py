# SPDX-License-Identifier: MIT
"""Downloads Debian packages with a package state of its own.

Nothing of the machine's package configuration is changed, nothing is installed, and no
root is needed.  The machine's configuration gives only the mirror and how to reach it.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from lab import LabError
from lab.cache import cache_root, log_file, make_directory
from lab.debian.mirrors import find_mirror
from lab.process import Kept

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
REACHING = re.compile(r"Acquire::(?!IndexTargets|Changelogs|Languages|CompressionTypes)\S+ \".+\";")


def transport_options() -> str:
    """How this machine reaches its mirrors: proxies, retries, time-outs."""
    dump = subprocess.run(
        ["apt-config", "dump", "Acquire"], stdout=subprocess.PIPE, text=True, check=False
    )
    return "".join(f"{line}\n" for line in dump.stdout.splitlines() if REACHING.fullmatch(line))


def private_state(suites: Sequence[str]) -> dict[str, str]:
    """Makes a package state that knows SUITES only; the environment to use it."""
    if not KEYRING.exists():
        raise LabError(f"{KEYRING} is missing; the Debian package debian-archive-keyring holds it")
    state = make_directory(cache_root() / "apt" / "+".join(suites))
    for folder in ("lists/partial", "archives/partial", "parts"):
        make_directory(state / folder)
    sources = [f"deb [signed-by={KEYRING}] {find_mirror(suite)} {suite} main\n" for suite in suites]
    (state / "sources.list").write_text("".join(sources))
    (state / "status").touch()
    (state / "apt.conf").write_text(
        transport_options()
        + f'Dir::Etc::SourceList "{state}/sources.list";\n'
        + f'Dir::Etc::SourceParts "{state}/parts";\n'
        + f'Dir::Etc::Parts "{state}/parts";\n'
        + f'Dir::Etc::Main "{state}/parts/none";\n'
        + f'Dir::Etc::Preferences "{state}/parts/none";\n'
        + f'Dir::Etc::PreferencesParts "{state}/parts";\n'
        + f'Dir::State "{state}";\n'
        + f'Dir::State::Lists "{state}/lists";\n'
        + f'Dir::State::Status "{state}/status";\n'
        + f'Dir::Cache "{state}";\n'
        + f'Dir::Cache::Archives "{state}/archives";\n'
        + 'Acquire::Languages "none";\n'
        + 'APT::Sandbox::User "";\n'
    )
    return os.environ | {"APT_CONFIG": str(state / "apt.conf"), "LC_ALL": "C"}


def run_apt(arguments: Sequence[str], env: dict[str, str], package: str, cwd: Path) -> str:
    """What apt-get prints.  Its whole output is kept in the log `fetch`."""
    log = log_file("fetch")
    with (
        log.open("ab") as errors,
        Kept(
            ["apt-get", "-q", *arguments],
            env=env,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as apt,
    ):
        assert apt.process.stdout
        output = apt.process.stdout.read()
        status = apt.process.wait()
        errors.write(output)
    if status:
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


def newest(pattern: str, suites: Sequence[str], directory: Path) -> str:
    """The name with the highest version in it among the packages that match PATTERN."""
    env = private_state(suites)
    log_file("fetch").unlink(missing_ok=True)
    run_apt(["-o", "APT::Update::Error-Mode=any", "update"], env, pattern, directory)
    names = subprocess.run(
        ["apt-cache", "pkgnames"], env=env, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    found = [name for name in names if re.fullmatch(pattern, name)]
    if not found:
        raise LabError(f"Debian's {' or '.join(suites)} has no package that matches {pattern}")
    return max(found, key=lambda name: [int(number) for number in re.findall(r"\d+", name)])


def depends_on(package: str, suites: Sequence[str]) -> list[str]:
    """The packages that PACKAGE names as those it depends on."""
    shown = subprocess.run(
        ["apt-cache", "depends", package],
        env=private_state(suites),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return re.findall(r"^\W*Depends: (\S+)", shown, re.M)


def newest_file(package: str, suites: Sequence[str], directory: Path) -> Path:
    """The file of the newest PACKAGE in SUITES as it is in DIRECTORY after a download."""
    env = private_state(suites)
    log_file("fetch").unlink(missing_ok=True)
    # Without this option a mirror that cannot be reached is only a warning.
    run_apt(["-o", "APT::Update::Error-Mode=any", "update"], env, package, directory)
    # apt names no file that is in its directory already.
    elsewhere = make_directory(directory / "partial")
    listed = run_apt(["download", "--print-uris", package], env, package, elsewhere)
    match = re.search(r"^'[^']*' (\S+\.deb) ", listed, re.M)
    if not match:
        raise LabError(f"{package} is not in Debian's {' or '.join(suites)}: apt names no file")
    return directory / match[1]


def download(package: str, suites: Sequence[str], directory: Path) -> Path:
    """The newest PACKAGE in SUITES as a file in DIRECTORY; downloaded unless it is there.

    apt verifies the archive's signature and the file's checksum.
    """
    path = newest_file(package, suites, directory)
    if not path.exists():
        partial = make_directory(directory / "partial")
        run_apt(["download", package], private_state(suites), package, partial)
        os.replace(partial / path.name, path)
    return path


def version_of(package_file: Path) -> str:
    """The Debian version in the name of a package's file."""
    return unquote(package_file.name.split("_")[1])
