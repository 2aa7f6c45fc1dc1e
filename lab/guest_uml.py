# SPDX-License-Identifier: MIT
"""Starts user-mode kernels, which are ordinary programs."""

from pathlib import Path

from lab.guest import Lines, Options

OUT, ERR = "ttyS0", "ttyS1"


def command(image: Path, run: Path, options: Options, lines: Lines) -> list[str]:
    """The command that runs a guest.  SMP takes seccomp=on."""
    keys = f"fd:{lines.keys}" if lines.keys >= 0 else "null"
    return [
        str(image),
        f"mem={options.memory}",
        "seccomp=on",
        f"ncpus={options.cpus}",
        *("root=/dev/root", "rootfstype=hostfs", "hostfs=/", "ro"),
        *("con=null", f"con0=null,fd:{lines.console}"),
        *("ssl=null", f"ssl0={keys},fd:{lines.out}", f"ssl1=null,fd:{lines.err}"),
        *(f"uml_dir={run}/uml/", "umid=guest"),
        *options.kernel,
        f"init={run}/init",
    ]
