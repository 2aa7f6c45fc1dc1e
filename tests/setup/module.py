# SPDX-License-Identifier: MIT
"""Builds the module for Debian's 6.12 with what ./setup installed, and prints where it is."""

import sys

from lab import LabError
from lab.kernels.build import build
from lab.kernels.modules import FERRY, build_module
from lab.targets import find_target

if __name__ == "__main__":
    try:
        print(build_module(build(find_target("debian-6.12")), FERRY))
    except LabError as error:
        sys.exit(f"module: {error}")
