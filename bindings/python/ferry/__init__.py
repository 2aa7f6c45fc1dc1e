# SPDX-License-Identifier: MIT
"""Attributes, contents and trees of many files in one call."""

from ferry import _ferry as _ferry  # first: it refuses interpreters in which NumPy would fail
from ferry.call import FIELDS
from ferry.files import Chunk, read_chunks, read_many, stat_many
from ferry.program import ALWAYS, END, NOT_RUN, ON_FAIL, ON_POS, ON_ZERO, Problem, Program
from ferry.tree import DT_DIR, DT_LNK, DT_REG, Tree, walk

__all__ = [
    "ALWAYS",
    "DT_DIR",
    "DT_LNK",
    "DT_REG",
    "END",
    "FIELDS",
    "NOT_RUN",
    "ON_FAIL",
    "ON_POS",
    "ON_ZERO",
    "Chunk",
    "Problem",
    "Program",
    "Tree",
    "read_chunks",
    "read_many",
    "stat_many",
    "walk",
]
