# SPDX-License-Identifier: MIT
"""What the libraries export, and that no objects and no headers of ours form a circle."""

import os
import re
import subprocess
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[3]
LIB = Path(os.environ["FERRY_BUILD"]) / "lib"
ARCHIVES = {"libferry": LIB / "libferry.a", "libferry_text": LIB / "text" / "libferry_text.a"}
COMMAND = LIB.parent / "cli" / "libcommand.a"  # measure, trace and cli
OF_COMMAND = ["measure", "trace", "cli"]
HEADERS = [
    header
    for folder in ["calls", "include", "uapi", "lib", "common", *OF_COMMAND]
    for header in ROOT.glob(f"{folder}/**/*.h")
]
INCLUDE_FOLDERS = [ROOT / "include", ROOT / "uapi", ROOT]
PUBLIC_HEADERS = sorted((ROOT / "include").glob("*.h"))
SANITIZER_SYMBOL = re.compile(r"_*(?:odr_)?asan_")  # of Clang, since 17

Graph = dict[str, set[str]]


def nm(*arguments: str | Path) -> list[list[str]]:
    """The lines of nm -P, split: with -A, "archive[object]: symbol type value size"."""
    command = ["nm", "-P", *map(str, arguments)]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def object_graph(archive: Path) -> Graph:
    """Which object uses symbols of which others in the archive."""
    owner: dict[str, str] = {}
    uses: dict[str, set[str]] = defaultdict(set)
    for place, symbol, kind, *_ in nm("-A", "-g", archive):
        member = place.rstrip(":")
        if kind in "Uwv":
            uses[member].add(symbol)
        else:
            owner[symbol] = member
    return {
        member: {owner[symbol] for symbol in symbols if symbol in owner}
        for member, symbols in uses.items()
    }


def find_header(name: str, beside: Path) -> Path | None:
    for folder in [beside, *INCLUDE_FOLDERS]:
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None


def header_graph() -> Graph:
    """Which of our headers includes which others."""
    return {str(header.resolve()): included_by(header) for header in HEADERS}


def included_by(source: Path) -> set[str]:
    names = re.findall(r'^\s*#\s*include\s+[<"](.+)[>"]', source.read_text(), re.M)
    found = (find_header(name, source.parent) for name in names)
    return {str(path) for path in found if path}


def folders_included_by(folder: str) -> set[str]:
    """The folders of our headers that the sources and headers of a folder include."""
    sources = [path for path in (ROOT / folder).rglob("*") if path.suffix in {".c", ".h"}]
    headers = set().union(*map(included_by, sources))
    return {str(Path(header).parent.relative_to(ROOT)) for header in headers}


def find_cycle(graph: Graph) -> list[str]:
    """The names on a circle, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(name).rsplit("/", maxsplit=1)[-1] for name in error.args[1]]
    return []


def exported_by_map() -> list[str]:
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "lib" / "libferry.map").read_text(), flags=re.S)
    exported = re.search(r"global:(.*?)local:\s*\*;", text, re.S)
    assert exported
    return re.findall(r"[^\s;]+", exported[1])


def declared_functions(header: Path) -> set[str]:
    """Functions that a header declares and does not define."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r"^\{.*?^\}$", ";", text, flags=re.S | re.M)
    return set(re.findall(r"^(?!static|inline|template)\w[^;]*?(\w+)\([^;]*;", text, re.M))


def fields(header: Path) -> list[str]:
    """The members of all structures of a header: "__u64 rets"."""
    text = re.sub(r"/\*.*?\*/|^#.*?$", "", header.read_text(), flags=re.S | re.M)
    bodies = re.findall(r"\bstruct \w+ \{(.*?)\}", text, re.S)
    return [field.strip() for body in bodies for field in body.split(";") if field.strip()]


def test_types_of_the_kernel_interface_have_fixed_widths() -> None:
    found = [field for header in (ROOT / "uapi").rglob("*.h") for field in fields(header)]
    assert "__u64 rets" in found
    fixed = re.compile(r"(__[us](8|16|32|64)|struct \w+) \w|char \w+\[\]$")
    assert not [field for field in found if not fixed.match(field)]


def test_cycles_are_found() -> None:
    assert not find_cycle({"a": {"b", "c"}, "b": {"c"}})
    assert set(find_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == {"b", "c"}


def test_objects_of_libferry_form_no_circle() -> None:
    graph = object_graph(ARCHIVES["libferry"])
    assert any("watcher" in used for used in set().union(*graph.values()))
    assert not find_cycle(graph)


def test_objects_of_the_text_library_form_no_circle() -> None:
    graph = object_graph(ARCHIVES["libferry_text"])
    assert set().union(*graph.values())
    assert not find_cycle(graph)


def test_objects_of_the_command_form_no_circle() -> None:
    graph = object_graph(COMMAND)
    for folder in OF_COMMAND:
        stems = {path.stem for path in (ROOT / folder).rglob("*.c")}
        assert any(stem in name for name in graph for stem in stems)
    assert not find_cycle(graph)


def test_the_harness_knows_no_case() -> None:
    used = folders_included_by("measure/harness")
    assert "common" in used
    assert not used & {"measure/cases", "trace", "cli"}


def test_trace_uses_no_case() -> None:
    used = folders_included_by("trace")
    assert "measure/harness" in used
    assert not used & {"measure/cases", "cli"}


def test_headers_form_no_circle() -> None:
    graph = header_graph()
    assert str(ROOT / "include/ferry/rawcall.h") in graph[str(ROOT / "include/ferry/loop.h")]
    assert not find_cycle(graph)


def test_all_global_symbols_are_ours() -> None:
    symbols = {symbol for _, symbol, *_ in nm("-A", "-g", "--defined-only", ARCHIVES["libferry"])}
    assert "ferry_batch" in symbols
    foreign = {symbol for symbol in symbols if not symbol.startswith("ferry_")}
    assert not {symbol for symbol in foreign if not SANITIZER_SYMBOL.match(symbol)}


def test_map_lists_what_the_headers_declare() -> None:
    declared = set().union(*map(declared_functions, PUBLIC_HEADERS))
    assert {"ferry_batch", "ferry_flexsc_wait", "ferry_prefault"} <= declared
    assert exported_by_map() == sorted(declared)


def test_shared_library_exports_what_the_map_lists() -> None:
    # The version itself is a symbol of type A.
    shown = {
        symbol.partition("@")[0]
        for symbol, kind, *_ in nm("-D", "--defined-only", LIB / "libferry.so")
        if kind != "A"
    }
    assert shown == set(exported_by_map())
