# SPDX-License-Identifier: MIT
"""The ferry-lab command."""

import argparse
import fnmatch
import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from lab import REPOSITORY, LabError
from lab.cache import cache_root, locked, make_directory, remove_contents, size_on_disk, write_whole
from lab.completion import show_candidates
from lab.debian.packages import version_of
from lab.debian.sources import available, describe, fetch, fetched, unpacked_base
from lab.debian.stock import fetched_release, newest_release
from lab.guests.kvm import kvm_boots
from lab.guests.machine import FAILED, Options
from lab.guests.run import run_in_guest
from lab.kernels import series
from lab.kernels.build import build
from lab.kernels.given import image_target, source_target
from lab.kernels.selftests import build_selftests
from lab.kernels.steps import steps
from lab.kernels.style import check_style
from lab.new_call import NUMBERS, write_call
from lab.programs import programs_for
from lab.show import show
from lab.targets import (
    DEFAULT_TARGETS,
    SOURCES,
    STOCK_TARGETS,
    TEST_TARGETS,
    Target,
    find_target,
    with_patches,
)
from lab.tested import record, versions_tested
from lab.toolchain import FOREIGN, lacking_tools

if TYPE_CHECKING:
    from lab.bench.run import Document
    from lab.tests.session import Result

INTERRUPTED = 130
DESCRIPTION = """\
Fetches, patches, builds, boots and tests kernels.

targets:
  x86-6.12 x86-7.3   x86-64, booted by QEMU, with KVM if that works
  uml-7.3            user-mode Linux, which runs kernel code at its natural speed
  uml-7.3-tiny       the smallest of its kind that runs batches
  arm64-7.3 riscv64-7.3   64-bit Arm and RISC-V, booted by QEMU, after make setup-machines
  debian-6.1 debian-6.12   Debian's stock kernels, with ferry's module
  debian-arm64-6.12  the same for 64-bit Arm, after make setup-machines
  TARGET-base        the same without the patch series
  TARGET-debug       the same with KASAN, UBSAN, lockdep and kmemleak
  TARGET-kcsan       the same with KCSAN, which finds data races (x86 only)
  TARGET-kcov        the same with KCOV, for the fuzzer (7.3 only)
"""
EXAMPLES = """\
examples:
  ferry-lab show                         what ferry gains in a patched kernel
  ferry-lab build                        build the three kernels
  ferry-lab shell uml-7.3                a root shell in a patched kernel
  ferry-lab boot x86-6.12 -- uname -r    one command in the guest
  ferry-lab series 6.12 -o patches       the series as patches to mail
  ferry-lab new-call hello               a patch with a system call of your own
  ferry-lab test --patch hello uml-7.3   its tests and the series' own
  ferry-lab test --source ~/linux        what works in the kernel of your tree

Files are kept in $FERRY_CACHE, or ferry in the user's cache directory.
"""


def run_fetch(args: argparse.Namespace) -> int:
    versions = args.version or list(SOURCES)
    for version in versions:
        if version not in SOURCES:
            raise LabError(f"unknown version '{version}'; the versions are {', '.join(SOURCES)}")
    if args.list:
        list_versions(versions)
        return 0
    for version in versions:
        print(fetch(SOURCES[version], refresh=True))
    return 0


def list_versions(versions: Sequence[str]) -> None:
    """The versions that Debian offers, that were downloaded, and that were tested."""
    rows = [("PACKAGE", "AVAILABLE", "DOWNLOADED", "LAST TESTED")]
    for source in (SOURCES[version] for version in versions):
        here = fetched(source)
        known = (available(source), version_of(here) if here else "none")
        rows.append((source.package, *known, " ".join(versions_tested(source)) or "never"))
    for target in STOCK_TARGETS:
        source, here_release = target.source, fetched_release(target)
        known = (newest_release(target, cache_root()), here_release or "none")
        rows.append((source.package, *known, " ".join(versions_tested(source)) or "never"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def run_series(args: argparse.Namespace) -> int:
    if args.version not in SOURCES:
        raise LabError(
            f"there is no series for '{args.version}'; the versions are {', '.join(SOURCES)}"
        )
    author = None if args.draft else series.find_author(args.author)
    if not author and not args.draft:
        raise LabError(
            "the patches need an author, who signs them off: give --author 'NAME <ADDRESS>',"
            " or set git's user.name and user.email; --draft writes patches without"
        )
    manifest = series.read_manifest()
    names = [row.name for row in manifest]
    if args.series and args.series not in names:
        raise LabError(f"there is no series '{args.series}'; the series are {', '.join(names)}")
    source = SOURCES[args.version]
    package = fetch(source)
    patches = series.read_series(source.version)
    upstream = f"v{version_of(package).partition('-')[0]}"
    for wanted in manifest:
        if args.series in (None, wanted.name):
            with unpacked_base(source, package) as base:
                mails = series.mails(
                    base, wanted, patches, author, describe(source, package), upstream
                )
            if mails:
                write_mails(Path(args.output) / wanted.name, mails)
    return 0


def run_steps(args: argparse.Namespace) -> int:
    from lab.tests.manifest import GuestTest, read_tests
    from lab.tests.run_tests import count, exit_status, run_tests, summary

    tests = {test.name: test for test in read_tests()}
    boots = GuestTest(name="boots", command="true")
    done: list[Result] = []
    for name, target in steps(find_target(args.target), args.series):
        print(f"==== {target.name}, {name}", flush=True)
        kernel = build(target, args.jobs)
        selftests = build_selftests(kernel)
        names = sorted(f"kselftest-{path.name}" for path in selftests.iterdir())
        chosen = [tests[name] for name in names if name in tests]
        done += run_tests(kernel, chosen or [boots], build_directory(args), selftests)
    counts = count(done)
    print(summary(counts))
    return exit_status(counts)


def write_mails(output: Path, mails: Mapping[str, str]) -> None:
    """Replaces the numbered patches in a directory."""
    make_directory(output)
    for old in output.glob("[0-9][0-9][0-9][0-9]-*.patch"):
        old.unlink()
    for name, text in mails.items():
        (output / name).write_text(text)
        print(output / name)


def chosen_target(args: argparse.Namespace, name: str | None) -> Target:
    """The target NAME as the command line changes it; NAME is None where it names no target."""
    image, tree = args.kernel_image, args.source
    if args.modules and not image:
        raise LabError("--modules needs --kernel-image")
    if (image and tree) or ((image or tree) and (args.patch or args.no_series)):
        raise LabError("--kernel-image, --source and --patch or --no-series exclude each other")
    if image:
        return image_target(image, args.modules, name)
    if tree:
        return source_target(tree, name)
    if not name:
        raise LabError("no target given; ferry-lab --help lists them")
    target = find_target(name)
    if args.no_series and target.series:
        target = find_target(f"{name}-base")
    return with_patches(target, args.patch)


def run_build(args: argparse.Namespace) -> int:
    for name in args.target or [target.name for target in DEFAULT_TARGETS]:
        print(build(chosen_target(args, name), args.jobs).image)
    return 0


def run_test(args: argparse.Namespace) -> int:
    # Here, because these need pydantic, and the other commands do not.
    from lab.tests.manifest import read_tests
    from lab.tests.own_selftests import TEST as SELFTESTS
    from lab.tests.own_selftests import compare_selftests
    from lab.tests.run_tests import (
        added_tests,
        count,
        exit_status,
        report,
        run_tests,
        summary,
        without_missing,
        write_record,
    )

    given = args.kernel_image or args.source
    extra = args.patch or args.no_series
    if args.record and (extra or given):
        raise LabError(
            "--record is for kernels of the series only: not with --patch, --no-series,"
            " --kernel-image or --source"
        )
    patterns = args.only or ["*"]

    def wanted(name: str) -> bool:
        return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)

    tests = [test for test in read_tests() if wanted(test.name) and (args.full or not test.full)]
    found: dict[str, list[Result]] = {}
    left_out = 0
    usual = [target.name for target in (DEFAULT_TARGETS if extra else TEST_TARGETS)]
    for name in args.target or ([None] if given else usual):
        target = chosen_target(args, name)
        name = target.name
        chosen = [test for test in tests if test.runs_on(target.like or target.name)]
        if chosen or target.patches:
            kernel = build(target)
            selftests = build_selftests(kernel)
            added = added_tests(target, selftests)
            chosen += [test for test in added if wanted(test.name)]
            able = without_missing(kernel, chosen, selftests)
            left_out += len(chosen) - len(able)
            programs = programs_for(target, build_directory(args))
            found[name] = run_tests(kernel, able, programs, selftests)
        if args.full and wanted(SELFTESTS.name) and target in DEFAULT_TARGETS:
            result = compare_selftests(target)
            report(build(target), result)
            found.setdefault(name, []).append(result)
        done = found.get(name)
        if args.record and not args.only and done and exit_status(count(done)) == 0:
            record(name, build(target).source_version)
    counts = count(itertools.chain(*found.values()))
    counts["skipped"] += left_out
    if args.json:
        write_record(Path(args.json), found)
    print(summary(counts))
    return exit_status(counts)


def run_benches(args: argparse.Namespace) -> int:
    from lab.bench.goals import goal_table, goals_of
    from lab.bench.run import has_series, missing, run_bench
    from lab.tests.manifest import BENCHES, read_benches

    benches = read_benches()
    for name in args.name:
        if name not in [bench.name for bench in benches]:
            raise LabError(f"there is no benchmark '{name}' in {BENCHES}")
    documents: dict[str, Document] = {}
    judged: dict[str, Document] = {}  # of kernels with the series: goals are for them
    given = chosen_target(args, None) if args.kernel_image or args.source else None
    usual = [bench.name for bench in benches if not given or bench.target == given.like]
    if not args.name and not usual:
        raise LabError(f"no benchmark is for such a kernel only; name benchmarks of {BENCHES}")
    for bench in benches:
        if bench.name not in (args.name or usual):
            continue
        reason = lacking_tools(find_target(bench.target).arch)
        if not args.name and reason:
            print(f"==== {bench.name} ({bench.target}) left out: {reason}", flush=True)
            continue
        target = given if given and args.kernel_image else chosen_target(args, bench.target)
        kernel = build(target)
        if reason := missing(bench, kernel):
            if args.name:
                raise LabError(f"{bench.name}: {reason}")
            print(f"==== {bench.name} ({target.name}) left out: {reason}", flush=True)
            continue
        for kvm in (False, True) if kvm_boots(kernel, Options(), run_in_guest) else (False,):
            name = f"{bench.name}-kvm" if kvm else bench.name
            print(f"==== {name} ({target.name})", flush=True)
            documents[name] = run_bench(bench, kernel, build_directory(args), kvm)
            if has_series(kernel):
                judged[name] = documents[name]
    if not documents:
        raise LabError("no benchmark ran")
    goals = goals_of(judged)
    if goals:
        print(goal_table(goals))
    if args.json:
        whole = {"documents": documents, "goals": [goal.as_json() for goal in goals]}
        write_whole(Path(args.json), json.dumps(whole, indent=2) + "\n")
    return 0 if all(goal.met for goal in goals) else 1


def build_directory(args: argparse.Namespace) -> Path:
    return Path(args.build).absolute() if args.build else REPOSITORY / "build"


def options_of(args: argparse.Namespace) -> Options:
    return Options(
        cpus=args.cpus or (1 if args.icount else 2),
        memory=args.memory,
        timeout=args.timeout,
        icount=args.icount,
        writable=tuple(Path(path).absolute() for path in args.writable),
        qemu=tuple(args.qemu),
        kernel=tuple(args.kernel),
    )


def run_boot(args: argparse.Namespace) -> int:
    if not args.command:
        raise LabError("no command given; usage: ferry-lab boot TARGET -- COMMAND...")
    kernel = build(chosen_target(args, args.target))
    outcome = run_in_guest(kernel, args.command, options_of(args))
    if outcome.failure:
        print(f"ferry-lab: {outcome.failure}", file=sys.stderr)
    return outcome.exit_status


def run_shell(args: argparse.Namespace) -> int:
    target = chosen_target(args, args.target)
    if target.arch in FOREIGN:
        raise LabError(f"there is no shell in {target.name}: use ferry-lab boot")
    kernel = build(target)
    options = Options(cpus=args.cpus or 2, memory=args.memory, terminal=True, quick=True)
    print(
        f"ferry-lab: a root shell in {kernel.target.name}; Ctrl-] ends the guest", file=sys.stderr
    )
    outcome = run_in_guest(kernel, ["bash"], options)
    if outcome.findings:
        print(f"ferry-lab: {outcome.failure}", file=sys.stderr)
    return outcome.exit_status


def run_show(args: argparse.Namespace) -> int:
    show(build_directory(args))
    return 0


def run_new_call(args: argparse.Namespace) -> int:
    for path in write_call(args.name, args.number, Path(args.output or args.name)):
        print(path)
    return 0


def run_style(args: argparse.Namespace) -> int:
    wrong = check_style(with_patches(DEFAULT_TARGETS[0], args.patch).patches)
    for line in wrong:
        print(line)
    print(f"the kernel's style: {len(wrong) or 'no'} complaints")
    return 1 if wrong else 0


def run_clean(_args: argparse.Namespace) -> int:
    root = cache_root()
    freed = size_on_disk(root)
    remove_contents(root, keep="locks")
    print(f"ferry-lab: removed {freed / 1e9:.1f} GB from {root}")
    return 0


REPEATED: dict[str, Any] = {"action": "append", "default": []}
FLAG: dict[str, Any] = {"action": "store_true"}
TARGET: dict[str, Any] = {"help": "see ferry-lab --help"}
BUILD: dict[str, Any] = {"metavar": "DIRECTORY", "help": "where the programs are (build)"}
PATCH: dict[str, Any] = REPEATED | {
    "type": Path,
    "metavar": "DIRECTORY",
    "help": "apply the patch in there, too; may be repeated",
}


def add_guest_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cpus", type=positive, metavar="N", help="CPUs of the guest (2)")
    parser.add_argument("--memory", default="1G", metavar="SIZE", help="its memory (1G)")


def add_patch_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-p", "--patch", **PATCH)
    parser.add_argument("--no-series", **FLAG, help="without the series: the target's -base")


def add_kernel_options(parser: argparse.ArgumentParser) -> None:
    add = partial(parser.add_argument, type=Path)
    add("--source", metavar="DIRECTORY", help="build the kernel of this tree instead")
    add("--kernel-image", metavar="FILE", help="take this kernel instead, a bzImage or UML's linux")
    add("--modules", metavar="DIRECTORY", help="its modules (lib/modules/RELEASE, if it is there)")


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ferry-lab",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)

    def add(
        name: str, run: Callable[[argparse.Namespace], int], text: str
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text.capitalize() + ".")
        made.set_defaults(run=run)
        return made

    fetching = add("fetch", run_fetch, "download the newest kernel sources from Debian")
    fetching.add_argument("version", nargs="*", help="6.12, 7.3; all of them by default")
    fetching.add_argument("--list", **FLAG, help="show what Debian offers and what was last tested")

    building = add("build", run_build, "build kernels; print where their images are")
    building.add_argument("target", nargs="*", **TARGET)
    building.set_defaults(kernel_image=None, source=None, modules=None)
    add_patch_options(building)
    building.add_argument("-j", "--jobs", type=positive, metavar="N", help="compilers at once")

    booting = add("boot", run_boot, "run a command in a guest; exit with its status")
    booting.usage = "ferry-lab boot [OPTIONS] [TARGET] -- COMMAND..."
    booting.add_argument("target", nargs="?", **TARGET)
    add_patch_options(booting)
    add_kernel_options(booting)
    add_guest_options(booting)
    booting.add_argument("--timeout", type=float, metavar="SECONDS", help="end it after that long")
    booting.add_argument(
        "--icount", **FLAG, help="advance the guest's clock by 1 ns per instruction"
    )
    booting.add_argument(
        *("-w", "--writable"),
        **REPEATED,
        metavar="DIRECTORY",
        help="a directory of the host that the guest may write to",
    )
    booting.add_argument(
        "--qemu", **REPEATED, metavar="ARGUMENT", help="for QEMU, as --qemu=ARGUMENT"
    )
    booting.add_argument("--kernel", **REPEATED, metavar="PARAMETER", help="for the kernel")

    shell = add("shell", run_shell, "a root shell in a guest")
    shell.add_argument("target", nargs="?", **TARGET)
    add_patch_options(shell)
    add_kernel_options(shell)
    add_guest_options(shell)

    showing = add("show", run_show, "measure in the smallest patched kernel what ferry gains there")
    showing.add_argument("--build", **BUILD)

    testing = add("test", run_test, "run the tests of lab/tests.toml in guests")
    testing.add_argument("target", nargs="*", **TARGET)
    add_patch_options(testing)
    add_kernel_options(testing)
    testing.add_argument("--full", **FLAG, help="also run the tests that take long")
    testing.add_argument(
        "--only",
        **REPEATED,
        metavar="PATTERN",
        help="run the tests whose names match; may be repeated",
    )
    testing.add_argument("--record", **FLAG, help="note in kernel/series/tested.toml what passed")
    testing.add_argument("--json", metavar="FILE", help="write verdicts, times and load there")
    testing.add_argument("--build", **BUILD)

    benching = add("bench", run_benches, "measure the series, as lab/benches.toml says")
    benching.add_argument("name", nargs="*", help="all of them by default")
    benching.set_defaults(patch=[], no_series=False)
    add_kernel_options(benching)
    benching.add_argument("--json", metavar="FILE", help="write the figures there as well")
    benching.add_argument("--build", **BUILD)

    assembling = add("series", run_series, "write the patch series for a kernel version")
    assembling.add_argument("version", help="6.12 or 7.3")
    assembling.add_argument(
        "series", nargs="?", help="one of kernel/series/series.toml (all of them)"
    )
    assembling.add_argument("-o", "--output", required=True, metavar="DIRECTORY")
    assembling.add_argument(
        "--author", metavar="'NAME <ADDRESS>'", help="who signs off (as git is configured)"
    )
    assembling.add_argument(
        "--draft", **FLAG, help="without a sign-off; git send-email refuses these"
    )

    stepping = add("steps", run_steps, "build and test a target after each patch of a series")
    stepping.add_argument("target", **TARGET)
    stepping.add_argument(
        "series", nargs="*", help="some of kernel/series/series.toml (all of them)"
    )
    stepping.add_argument("-j", "--jobs", type=positive, metavar="N", help="compilers at once")
    stepping.add_argument("--build", **BUILD)

    calling = add("new-call", run_new_call, "write a patch that adds a system call, to start from")
    calling.add_argument("name", help="of the call")
    calling.add_argument(
        "--number",
        type=int,
        default=NUMBERS[0],
        metavar="N",
        help=f"{NUMBERS[0]} to {NUMBERS[-1]} ({NUMBERS[0]})",
    )
    calling.add_argument("-o", "--output", metavar="DIRECTORY", help="where to (NAME)")

    styling = add("style", run_style, "run checkpatch.pl and sparse on the series")
    styling.add_argument("-p", "--patch", **PATCH)

    add("clean", run_clean, "remove everything that the lab downloaded and built")
    return parser


def how_to_get(module: str) -> str:
    missing = f"the Python module {module} is missing; "
    if (REPOSITORY / "setup").exists():
        return f"{missing}'make -C {REPOSITORY} setup' installs all that the lab needs"
    return f"{missing}the package python3-{module} has it"


def end(number: int, _frame: FrameType | None) -> NoReturn:
    """Lets the with statements clear up."""
    signal.signal(number, signal.SIG_IGN)
    print(f"ferry-lab: ended by {signal.Signals(number).name}", file=sys.stderr)
    sys.exit(128 + number)


def main(arguments: list[str]) -> int:
    parser = make_parser()
    if arguments[:1] == ["--complete"]:
        show_candidates(parser, arguments[1:])
        return 0
    separator = arguments.index("--") if "--" in arguments else len(arguments)
    args = parser.parse_args(arguments[:separator])
    args.command = arguments[separator + 1 :]
    if args.command and args.subcommand != "boot":
        parser.error(f"only boot takes a command after --, not {args.subcommand}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Below nohup, hanging up stays ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
    try:
        # Cleaning waits until no other run uses what it removes.
        with locked("cache", shared=args.subcommand != "clean"):
            status: int = args.run(args)
        return status
    except LabError as error:
        print(f"ferry-lab: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        print(f"ferry-lab: {how_to_get(error.name or '')}", file=sys.stderr)
    except BrokenPipeError:
        # The reader of the output is gone; Python would flush it once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"ferry-lab: {where}{error.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        print("ferry-lab: interrupted", file=sys.stderr)
        return INTERRUPTED
    return FAILED
