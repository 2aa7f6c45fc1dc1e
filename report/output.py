# SPDX-License-Identifier: MIT
"""A file that is written whole or not at all."""

import os
import signal
import stat
import sys
import tempfile
from pathlib import Path

from .folder import BadInput


def permissions(path: Path) -> int:
    """Those that PATH has, or that creating it would give."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def replace(path: Path, content: bytes) -> None:
    number, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), permissions(path))
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replace_undisturbed(path: Path, content: bytes) -> None:
    """Ctrl-C waits until the file is whole, or gone."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    try:
        replace(path, content)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def write(name: str, content: bytes) -> None:
    """Writes CONTENT to the file NAME, or to standard output for "-"."""
    path = Path(name)
    try:
        if name == "-":
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        elif path.exists() and not path.is_file():
            path.write_bytes(content)
        else:
            replace_undisturbed(path, content)
    except OSError as error:
        place = "standard output" if name == "-" else name
        raise BadInput(f"{place}: cannot write: {error.strerror}") from None
