# SPDX-License-Identifier: MIT
"""Called by `ferry report` as: python -m report DIRECTORY OUTPUT."""

import signal
import sys

OLDEST = (3, 11)
INSTALL = "python3 -m pip install numpy scipy matplotlib jinja2 pydantic"
PACKAGES = ("numpy", "scipy", "matplotlib", "jinja2", "markupsafe", "pydantic", "pydantic_core")


def end_on_ctrl_c() -> None:
    """At once and in silence.  The command has blocked the signal until here."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def main() -> int:
    end_on_ctrl_c()
    if sys.version_info < OLDEST:
        print(
            f"ferry: report: {sys.executable} is Python {sys.version.split()[0]}; "
            "3.11 or later is needed",
            file=sys.stderr,
        )
        return 1
    try:
        from .application import run
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in PACKAGES:
            raise
        print(
            f"ferry: report: {sys.executable} has no package '{package}'; "
            f"'{INSTALL}' installs what is needed",
            file=sys.stderr,
        )
        return 1
    return run(sys.argv[1], sys.argv[2])


if __name__ == "__main__":
    sys.exit(main())
