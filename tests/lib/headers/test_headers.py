# SPDX-License-Identifier: MIT
"""The public headers, as users' compilers see them.  A missing compiler is a failure."""

import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
FOLDERS = [ROOT / "include", ROOT / "uapi"]
STRICT = ["-Wall", "-Wextra", "-Werror"]

C_COMPILERS = ["gcc", "clang"]
CXX_COMPILERS = ["g++", "clang++"]
C_COMMANDS = [f"{cc} -std={std}" for cc in C_COMPILERS for std in ("gnu89", "c99", "c11", "gnu17")]
CXX_COMMANDS = [f"{cc} -x c++ -std=c++{std}" for cc in CXX_COMPILERS for std in ("11", "17", "20")]
# The kernel's own headers, which distributions install beside glibc's.
MULTIARCH = subprocess.check_output(["gcc", "-print-multiarch"], text=True).strip()
KERNEL_FOLDERS = ["/usr/include", f"/usr/include/{MULTIARCH}"]
MUSL = " ".join(["musl-gcc", *(f"-idirafter {folder}" for folder in KERNEL_FOLDERS)])
MUSL_COMMANDS = [MUSL, f"{MUSL} -static"]

HEADERS = sorted(
    str(path.relative_to(folder)) for folder in FOLDERS for path in folder.rglob("*.h")
)
UAPI_HEADERS = sorted(str(path.relative_to(FOLDERS[1])) for path in FOLDERS[1].rglob("*.h"))


def compile_c(
    command: str, *arguments: str | Path, source: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a compiler with `source`, if given, as its standard input."""
    words = [*command.split(), *(f"-I{folder}" for folder in FOLDERS), *map(str, arguments)]
    return subprocess.run(words, input=source, text=True, capture_output=True, check=False)


def assert_compiles(command: str, *arguments: str | Path, source: str | None = None) -> None:
    done = compile_c(command, *arguments, source=source)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def assert_original_runs(command: str, run: list[str], tmp_path: Path) -> None:
    program = tmp_path / "original"
    assert_compiles(command, *STRICT, HERE / "original.c", "-o", program)
    done = subprocess.run([*run, program], text=True, capture_output=True, timeout=60, check=False)
    assert done.stdout == (HERE / "original.expected").read_text()
    assert (done.returncode, done.stderr) == (0, "")


def test_all_headers_are_found() -> None:
    assert {"ferry.h", "linux/batch.h", "linux/ferry.h", "linux/flexsc.h"} <= set(HEADERS)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("command", [*C_COMMANDS, *CXX_COMMANDS, *MUSL_COMMANDS])
def test_program_with_the_original_api_runs_alike(command: str, level: str, tmp_path: Path) -> None:
    assert_original_runs(f"{command} {level}", [], tmp_path)


def test_program_with_the_original_api_runs_alike_on_aarch64(tmp_path: Path) -> None:
    compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
    for level in ("-O0", "-O2"):
        assert_original_runs(f"{compiler} -static {level}", [emulator], tmp_path)


@pytest.mark.parametrize("command", [*C_COMMANDS, *CXX_COMMANDS, MUSL])
def test_layout_and_constants_are_the_abis(command: str) -> None:
    assert_compiles(command, *STRICT, "-fsyntax-only", HERE / "layout.c")


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("command", [*C_COMMANDS, *CXX_COMMANDS, MUSL])
def test_header_compiles_alone(command: str, header: str) -> None:
    language = [] if "-x" in command else ["-x", "c"]
    source = f"#include <{header}>\n#include <{header}>\n"
    assert_compiles(command, *STRICT, *language, "-fsyntax-only", "-", source=source)


@pytest.mark.parametrize("command", [*C_COMMANDS, *CXX_COMMANDS, MUSL])
def test_headers_compile_together(command: str) -> None:
    language = [] if "-x" in command else ["-x", "c"]
    source = "".join(f"#include <{header}>\n" for header in HEADERS)
    assert_compiles(command, *STRICT, *language, "-fsyntax-only", "-", source=source)


@pytest.mark.parametrize("command", ["gcc -x c", "clang -x c", "g++ -x c++", "clang++ -x c++"])
def test_words_of_32_bits_are_refused(command: str) -> None:
    done = compile_c(command, "-U__LP64__", "-fsyntax-only", "-", source="#include <ferry.h>\n")
    assert done.returncode != 0
    assert "build for an LP64 ABI" in done.stderr


@pytest.mark.parametrize("header", UAPI_HEADERS)
@pytest.mark.parametrize("compiler", C_COMPILERS)
def test_kernel_can_include_the_shared_headers(compiler: str, header: str) -> None:
    kernel = [f"-isystem{folder}" for folder in KERNEL_FOLDERS]
    strict = ["-std=c99", "-pedantic-errors", "-ffreestanding", "-nostdinc", *kernel]
    source = f"#include <{header}>\nint translation_units_are_not_empty;\n"
    assert_compiles(compiler, *STRICT, *strict, "-x", "c", "-fsyntax-only", "-", source=source)


@pytest.mark.parametrize(
    "command",
    [
        *(f"{cc} -std=c11 -Wpedantic -Wconversion -Wsign-conversion" for cc in C_COMPILERS),
        "gcc -std=gnu17 -Wpedantic",
        "clang -std=gnu17 -Wpedantic",
        *(f"{command} -Wpedantic" for command in CXX_COMMANDS),
    ],
)
def test_call_takes_up_to_six_arguments_of_any_type(command: str) -> None:
    assert_compiles(command, *STRICT, "-fsyntax-only", HERE / "calls.c")


SEVENTH = ["7", "0", "-1", "f", "p", "append", "(long)p", "sizeof(int)", "3, 4", "few", "n" * 40]


@pytest.mark.parametrize("seventh", SEVENTH)
@pytest.mark.parametrize("command", ["gcc -std=c11 -x c", "clang -std=c11 -x c", *CXX_COMMANDS])
def test_call_with_a_seventh_argument_does_not_compile(command: str, seventh: str) -> None:
    template = (
        "#include <ferry.h>\n"
        "int few, {name};\n"
        "int append(struct ferry_program *p, int f);\n"
        "int append(struct ferry_program *p, int f)\n"
        "{{ return f + ferry_call(p, 1, 1, 2, 3, 4, 5, {arguments}); }}\n"
    )
    name = "n" * 40
    wrong = template.format(name=name, arguments=f"6, {seventh}")
    right = template.format(name=name, arguments=seventh.split(",", maxsplit=1)[0])
    assert_compiles(command, "-w", "-fsyntax-only", "-", source=right)
    assert compile_c(command, "-w", "-fsyntax-only", "-", source=wrong).returncode != 0


@pytest.mark.parametrize("command", ["gcc -std=c11 -x c", "clang -std=c11 -x c", *CXX_COMMANDS])
def test_call_without_a_number_does_not_compile(command: str) -> None:
    source = "#include <ferry.h>\nint f(struct ferry_program *p) { return ferry_call(p); }\n"
    assert compile_c(command, "-w", "-fsyntax-only", "-", source=source).returncode != 0


def test_the_library_works_with_musl(tmp_path: Path) -> None:
    """All of it compiles without a warning; a static program of the README's runs."""
    listed = (ROOT / "lib" / "meson.build").read_text().partition("\n)\n")[0]
    sources = [ROOT / "lib" / name for name in re.findall(r"'(\S+\.c)'", listed)]
    assert len(sources) > 30
    sources.append(Path(os.environ["FERRY_BUILD"]) / "calls" / "calls.c")
    program = tmp_path / "program.c"
    readme = (ROOT / "README.md").read_text()
    program.write_text(readme.partition("```c\n")[2].partition("```\n")[0])
    flags = "-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-missing-field-initializers -Werror -static"
    places = [f"-I{folder}" for folder in (ROOT, *FOLDERS)]
    command = [*MUSL.split(), *flags.split(), *places, *sources, program]
    done = subprocess.run(
        [*command, "-o", tmp_path / "program"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = subprocess.run([tmp_path / "program"], stdout=subprocess.PIPE, text=True, check=True)
    assert shown.stdout == Path("/etc/hostname").read_text()


def test_the_library_takes_struct_statx_of_the_c_library(tmp_path: Path) -> None:
    """As musl has it since 1.2.5."""
    kernels = Path("/usr/include/linux/stat.h").read_text()
    folder = tmp_path / "sys"
    folder.mkdir()
    own = kernels.replace("_LINUX_STAT_H", "OF_THE_C_LIBRARY")
    start = "#pragma GCC system_header\n#include_next <sys/stat.h>\n"
    (folder / "stat.h").write_text(start + own)
    places = [f"-I{tmp_path}", f"-I{ROOT}"]
    for name in ("walk_names.c", "calls.c"):
        flags = ["-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only"]
        assert_compiles(MUSL, *flags, *places, ROOT / "lib" / "files" / name)
