# SPDX-License-Identifier: MIT
"""A source package that looks like a kernel's to the lab, and builds in no time."""

import subprocess
from pathlib import Path

from lab.targets import Source, Target

SOURCE = Source("9.9", "linux-source-9.9", ("nowhere",))
TARGET = Target(
    name="toy-9.9",
    source=SOURCE,
    arch="x86",
    base_config="tinyconfig",
    fragments=("toy.config",),
    image="arch/x86/boot/bzImage",
    steps=3,
)
MAKEFILE = """\
# Takes what the lab gives a kernel's Makefile: O=, ARCH=, CC=, and the goals.
OBJECTS := $(addprefix $(O)/,one.o two.o three.o)

tinyconfig:
	echo "CONFIG_TOY=y" > $(O)/.config
	echo "# CONFIG_OTHER is not set" >> $(O)/.config

olddefconfig:
	sed -i /CONFIG_REFUSED/d $(O)/.config

# Fails where another run makes them.
headers:
	mkdir -p $(O)/usr/include
	mkdir $(O)/busy && sleep 0.2 && rmdir $(O)/busy

bzImage: $(OBJECTS)
	mkdir -p $(O)/arch/x86/boot
	cat $(OBJECTS) > $(O)/arch/x86/boot/bzImage
	echo "$(LOCALVERSION)" >> $(O)/arch/x86/boot/bzImage
	touch $(O)/System.map
	mkdir -p $(O)/include/config
	echo 9.9.1 > $(O)/include/config/kernel.release

$(O)/%.o: %.c
	@echo "  CC      $*.o"
	@cp $< $@
	@echo "$*" >> $(O)/compiled
"""


def make_package(directory: Path, version: str, **files: str) -> Path:
    """A Debian package of the toy kernel in DIRECTORY; FILES replace or add to its own."""
    tree = directory / "linux-source-9.9"
    contents = {"Makefile": MAKEFILE, "one.c": "1\n", "two.c": "2\n", "three.c": "3\n"}
    for name, text in (contents | files).items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    root = directory / "root"
    (root / "usr" / "src").mkdir(parents=True)
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN" / "control").write_text(
        f"Package: linux-source-9.9\nVersion: {version}\nArchitecture: all\n"
        "Maintainer: none <none@example.org>\nDescription: a toy\n"
    )
    archive = root / "usr" / "src" / "linux-source-9.9.tar.xz"
    subprocess.run(["tar", "-C", directory, "-cJf", archive, tree.name], check=True)
    package = directory / f"linux-source-9.9_{version}_all.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-b", root, package],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return package
