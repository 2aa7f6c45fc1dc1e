# SPDX-License-Identifier: MIT
"""./setup in a copy of its own, on machines that are made up."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
RELEASES = ["debian-12", "debian-13", "ubuntu-24.04"]
COREUTILS = ["bash", "id", "cat", "rm", "env", "sed", "dirname"]

PACKAGES = """\
[run]   building
gcc             no-such-gcc
libthing-dev    no-such-module.pc  # why
[run-kernel] a kernel
shell           bash
[check] testing
fonts           /no/such/folder/*.ttf /usr/*/env
browser         no-such-browser  ubuntu-24.04=browser-bin debian-13=navigator
[machines] other machines
emulator        no-such-emulator
[packages] packaging
wrapper         no-such-wrapper
"""


class Machine:
    """A folder with a copy of setup, a list of packages, and commands that only report."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands = folder / "bin"
        self.commands.mkdir(parents=True)
        for name in COREUTILS:
            path = shutil.which(name)
            assert path
            (self.commands / name).symlink_to(path)
        shutil.copy(REPOSITORY / "setup", folder)
        (folder / "packages.txt").write_text(PACKAGES)
        self.release("debian", "12")

    def move(self, folder: Path) -> None:
        self.folder = self.folder.rename(folder)
        self.commands = folder / "bin"

    def release(self, name: str, version: str) -> None:
        (self.folder / "os-release").write_text(f'ID={name}\nVERSION_ID="{version}"\n')

    def command(self, name: str, script: str) -> None:
        path = self.commands / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        # setup adds /usr/sbin itself; nothing of the test's list is there.
        env = {"PATH": str(self.commands), "OS_RELEASE": str(self.folder / "os-release")}
        return subprocess.run(
            [str(self.folder / "setup"), *arguments],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "clone")


@pytest.mark.parametrize(
    ("size", "more"),
    [
        ("run", []),
        ("run-kernel", ["shell"]),
        ("check", ["shell", "fonts", "browser"]),
        ("machines", ["shell", "fonts", "browser", "emulator"]),
        ("packages", ["wrapper"]),
    ],
)
def test_each_size_includes_run(machine: Machine, size: str, more: list[str]) -> None:
    listed = machine.run("--list", size, "debian-12").stdout.split()
    assert listed == ["gcc", "libthing-dev", *more]


@pytest.mark.parametrize(
    ("release", "name"),
    [("debian-12", "browser"), ("debian-13", "navigator"), ("ubuntu-24.04", "browser-bin")],
)
def test_names_differ_between_releases(machine: Machine, release: str, name: str) -> None:
    assert machine.run("--list", "check", release).stdout.split()[-1] == name


def test_what_comes_from_elsewhere_is_not_missing(machine: Machine) -> None:
    assert machine.run("--missing", "check").stdout.split() == ["gcc", "libthing-dev", "browser"]
    machine.command("no-such-gcc", "")
    machine.command("pkg-config", '[[ "$*" == "--exists no-such-module" ]]')
    assert machine.run("--missing", "run").stdout == ""


@pytest.mark.parametrize(("found", "missing"), [("/usr/lib/", []), ("", ["rt-dev"])])
def test_a_library_of_clang_is_one_that_clang_finds(
    machine: Machine, found: str, missing: list[str]
) -> None:
    (machine.folder / "packages.txt").write_text("[run]\nrt-dev libno.a libasan.a\n")
    assert machine.run("--missing", "run").stdout.split() == ["rt-dev"]
    machine.command(
        "clang", f'[[ $1 == *=libasan.a ]] && echo {found}libasan.a || echo "${{1#*=}}"'
    )
    assert machine.run("--missing", "run").stdout.split() == missing


def test_missing_packages_are_named_as_this_release_names_them(machine: Machine) -> None:
    machine.release("ubuntu", "24.04")
    assert machine.run("--missing", "check").stdout.split()[-1] == "browser-bin"


def test_an_unknown_system_gets_the_list(machine: Machine) -> None:
    machine.release("fedora", "40")
    machine.command("apt-get", "echo apt-get was called")
    done = machine.run("run")
    assert done.returncode == 1
    assert "  gcc\n  libthing-dev\n" in done.stderr
    assert "fedora-40" in done.stderr
    assert "apt-get was called" not in done.stdout


@pytest.mark.parametrize("sudo", [None, "exit 1"])
def test_without_root_it_lists_what_is_missing(machine: Machine, sudo: str | None) -> None:
    machine.command("id", "echo 1000")
    machine.command("apt-get", "echo apt-get was called")
    if sudo:
        machine.command("sudo", sudo)
    done = machine.run("run")
    assert done.returncode == 1
    assert "  gcc\n  libthing-dev\n" in done.stderr
    assert "apt-get install --no-install-recommends gcc libthing-dev" in done.stderr
    assert "apt-get was called" not in done.stdout


def test_sudo_is_used_when_it_asks_for_nothing(machine: Machine) -> None:
    machine.command("id", "echo 1000")
    machine.command("apt-get", "exit 1")
    machine.command("sudo", '[[ $1 == -n ]] && shift; echo "as root: $*"')
    done = machine.run("run")
    assert "as root: apt-get update" in done.stdout
    assert "apt-get install -q -y --no-install-recommends gcc libthing-dev" in done.stdout


def test_packages_that_do_not_give_what_they_should_are_named(machine: Machine) -> None:
    machine.command("id", "echo 0")
    machine.command("apt-get", "exit 0")
    done = machine.run("run")
    assert done.returncode == 1
    assert "  gcc\n  libthing-dev\n" in done.stderr
    assert "is not found" in done.stderr


def test_a_failing_apt_ends_it(machine: Machine) -> None:
    machine.command("id", "echo 0")
    machine.command("apt-get", "echo no mirror >&2; exit 100")
    done = machine.run("run")
    assert done.returncode == 100
    assert done.stderr == "no mirror\n"


@pytest.mark.parametrize(
    "arguments",
    [(), ("all",), ("--missing",), ("--missing", "all"), ("--list", "run"), ("run", "check")],
)
def test_wrong_arguments_get_the_usage(machine: Machine, arguments: tuple[str, ...]) -> None:
    done = machine.run(*arguments)
    assert done.returncode == 2
    assert "usage:" in done.stderr


def test_old_python_is_refused(machine: Machine) -> None:
    (machine.folder / "packages.txt").write_text("[run]\nshell bash\n")
    machine.command("python3", '[[ $1 == --version ]] && echo "Python 3.9.2" && exit; exit 1')
    done = machine.run("run")
    assert done.returncode == 1
    assert done.stderr == "setup: Python 3.9.2 is too old; ferry needs Python 3.11\n"


class Environments:
    """Counts what is done to .venv."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        machine.folder.joinpath("packages.txt").write_text("[run]\nshell bash\n[check]\n")
        self.write("requirements.txt", "one==1\n")
        self.write("requirements-check.txt", "-r requirements.txt\ntwo==2\n")
        machine.command(
            "python3",
            """
case $1 in
--version) echo Python 3.11.2 ;;
-m) mkdir -p .venv/bin && echo new; printf '#!/bin/bash\\necho pip "${@: -1}"\\n' >.venv/bin/pip
	printf '#!/bin/bash\\necho meson "$@"\\n' >.venv/bin/meson
	chmod +x .venv/bin/pip .venv/bin/meson ;;
esac""",
        )
        for name in ("mkdir", "chmod"):
            path = shutil.which(name)
            assert path
            (machine.commands / name).symlink_to(path)

    def write(self, name: str, text: str) -> None:
        (self.machine.folder / name).write_text(text)

    def done(self, size: str) -> list[str]:
        done = self.machine.run(size)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stdout.splitlines() if not line.startswith("setup:")]


def test_python_packages_are_installed_once_per_size(machine: Machine) -> None:
    python = Environments(machine)
    assert python.done("run") == ["new", "pip requirements.txt"]
    assert python.done("run") == []
    assert python.done("run-kernel") == []
    assert python.done("check") == ["pip requirements-check.txt"]
    assert python.done("check") == []
    assert python.done("run") == []


def test_packages_take_nanobind_besides_those_of_run(machine: Machine) -> None:
    python = Environments(machine)
    python.write("requirements-check.txt", "-r requirements.txt\nnanobind==3\n")
    assert python.done("packages") == ["new", "pip requirements.txt", "pip nanobind==3"]
    assert python.done("run") == []


def test_new_requirements_make_a_new_environment(machine: Machine) -> None:
    python = Environments(machine)
    python.done("check")
    python.write("requirements.txt", "one==1.1\n")
    assert python.done("run") == ["new", "pip requirements.txt"]
    python.write("requirements-check.txt", "-r requirements.txt\ntwo==2.1\n")
    assert python.done("check") == ["pip requirements-check.txt"]


def test_an_interrupted_installation_is_done_again(machine: Machine) -> None:
    python = Environments(machine)
    python.done("run")
    (machine.folder / ".venv" / "installed").unlink()
    assert python.done("run") == ["new", "pip requirements.txt"]


def test_ctrl_c_shows_no_traceback(machine: Machine) -> None:
    Environments(machine)
    machine.command("sleep", f'exec {shutil.which("sleep")} "$@"')
    machine.command(
        "python3",
        """
case $1 in
--version) echo Python 3.11.2 ;;
-m) trap 'echo Traceback >&2; exit 1' INT; echo started; while :; do sleep 0.1; done ;;
esac""",
    )
    env = {"PATH": str(machine.commands), "OS_RELEASE": str(machine.folder / "os-release")}
    with subprocess.Popen(
        [machine.folder / "setup", "run"],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout and process.stderr
        assert any(line == "started\n" for line in process.stdout)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=20) == 130
        assert process.stderr.read() == "setup: interrupted; repeat it to go on\n"
    assert not (machine.folder / ".venv/installed").exists()


def test_a_clone_that_moved_is_set_up_again(machine: Machine, tmp_path: Path) -> None:
    python = Environments(machine)
    python.done("run")
    (machine.folder / "build").mkdir()
    python.write("build/build.ninja", "")
    assert python.done("run") == []
    machine.move(tmp_path / "moved")
    again = ["new", "pip requirements.txt", "meson setup --reconfigure build"]
    assert python.done("run") == again
    assert python.done("run") == []


def test_packages_that_are_installed_later_are_noticed(tmp_path: Path) -> None:
    """Meson looks for optional parts only when it configures."""
    installed, commands = tmp_path / "installed", tmp_path / ".venv" / "bin"
    commands.mkdir(parents=True)
    (tmp_path / "build").mkdir()
    shutil.copy(REPOSITORY / "Makefile", tmp_path)
    for path, script in {
        tmp_path / "setup": "",
        commands / "meson": 'echo "meson $*"; touch build/build.ninja',
        commands / "ninja": "",
    }.items():
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def built() -> str:
        make = ["make", "--silent", f"--directory={tmp_path}", "build", f"INSTALLED={installed}"]
        environment = {name: os.environ[name] for name in os.environ if not name.startswith("MAKE")}
        return subprocess.run(
            make, env=environment, capture_output=True, text=True, check=True
        ).stdout

    installed.touch()
    os.utime(installed, (1, 1))
    assert built() == "meson setup build -Dtests=false\n"
    assert built() == ""
    installed.touch()
    os.utime(tmp_path / "build" / "build.ninja", (1, 1))
    assert built() == "meson setup --reconfigure build\n"


def compile_with_ccache(folder: Path, home: str) -> list[str]:
    """The directories that a target of the Makefile has ccache make for its cache."""
    (folder / "program.c").write_text("int main(void) { return 0; }\n")
    others = ("CCACHE_", "XDG_", "MAKE", "MFLAGS")
    environment = {name: os.environ[name] for name in os.environ if not name.startswith(others)}
    rule = f"compile: ; cd '{folder}' && ccache cc -c program.c"
    done = subprocess.run(
        ["make", "--silent", "--directory", REPOSITORY, "--eval", rule, "compile"],
        env=environment | {"HOME": home},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return sorted(path.name for path in folder.rglob("ccache"))


@pytest.mark.skipif(not shutil.which("ccache"), reason="ccache is not installed")
def test_without_a_home_nothing_is_kept_of_what_is_compiled(tmp_path: Path) -> None:
    assert compile_with_ccache(tmp_path, "/proc/absent") == []
    assert compile_with_ccache(tmp_path, str(tmp_path)) == ["ccache"]


@pytest.mark.parametrize("release", RELEASES)
def test_the_lists_are_whole(release: str) -> None:
    """Every package of the real list once, with something that is needed of it."""
    listed = subprocess.run(
        [REPOSITORY / "setup", "--list", "check", release],
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(set(listed)) == len(listed) > 40
    for line in (REPOSITORY / "packages.txt").read_text().splitlines():
        words = line.partition("#")[0].split()
        if words and not line.startswith("["):
            assert len([word for word in words[1:] if "=" not in word]) >= 1, line
