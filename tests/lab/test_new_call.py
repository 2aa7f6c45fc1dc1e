# SPDX-License-Identifier: MIT
"""ferry-lab new-call: what it writes is a whole patch with the call's name everywhere."""

from pathlib import Path

from lab.kernels import series
from lab.new_call import TEMPLATE, write_call


def test_the_patch_is_whole(tmp_path: Path) -> None:
    written = write_call("hello", 509, tmp_path / "mine")
    assert len(written) == len([path for path in TEMPLATE.rglob("*") if path.is_file()])
    texts = {path.name: path.read_text() for path in written}
    assert not [name for name, text in texts.items() if "@" in f"{name}{text}".replace("@@", "")]
    assert "+509\tcommon\thello\t\t\tsys_hello\n" in texts["any.diff"]
    patch = series.read_given(tmp_path / "mine", "7.3")
    assert patch.message.startswith("kernel: add hello()\n\n")
    assert sorted(patch.added) == [
        "Documentation/userspace-api/hello.rst",
        "kernel/hello.c",
        *(
            f"tools/testing/selftests/hello/{name}"
            for name in (".gitignore", "Makefile", "hello.c")
        ),
    ]


def test_an_underline_is_as_long_as_its_heading(tmp_path: Path) -> None:
    for number, name in enumerate(("a", "a_rather_long_name")):
        write_call(name, 508, tmp_path / str(number))
        lines = (tmp_path / str(number) / f"{name}.rst").read_text().splitlines()
        heading = lines.index(next(line for line in lines if line.startswith(f"{name}():")))
        assert lines[heading + 1] == "=" * len(lines[heading])
