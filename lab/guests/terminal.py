# SPDX-License-Identifier: MIT
"""The user's terminal, while it is the terminal of a guest."""

import os
import sys
import termios
import tty
from typing import IO, Self

ESCAPE = b"\x1d"  # Ctrl-]


class Keys:
    """Passes what is typed on to the guest, for a with statement."""

    def __init__(self) -> None:
        self.guest_end, self._guest = os.pipe()
        self.user_end: IO[bytes] = os.fdopen(os.dup(sys.stdin.fileno()), "rb", 0)
        self._saved = termios.tcgetattr(self.user_end) if self.user_end.isatty() else None

    def __enter__(self) -> Self:
        if self._saved:
            tty.setraw(self.user_end.fileno())
        return self

    def __exit__(self, *_: object) -> None:
        if self._saved:
            termios.tcsetattr(self.user_end, termios.TCSAFLUSH, self._saved)
        self.user_end.close()
        os.close(self._guest)
        os.close(self.guest_end)

    def take(self, typed: bytes) -> bool:
        """Sends it to the guest; false when the user asks to end it."""
        if ESCAPE in typed:
            return False
        os.write(self._guest, typed)
        return True
