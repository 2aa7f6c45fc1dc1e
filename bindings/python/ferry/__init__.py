# SPDX-License-Identifier: MIT
"""Attributes, contents and trees of many files in one call."""

from ferry import _ferry as _ferry  # first: it refuses interpreters in which NumPy would fail
from ferry import files as _files
from ferry.call import ALL_FIELDS as _ALL_FIELDS
from ferry.call import FIELDS
from ferry.call import record_type as _record_type
from ferry.files import Chunk, read_chunks
from ferry.program import ALWAYS, END, NOT_RUN, ON_FAIL, ON_POS, ON_ZERO, Problem, Program
from ferry.tree import DT_DIR, DT_LNK, DT_REG, Tree, walk

stat_many, read_many = _ferry.quick(_files.stat_many, _files.read_many, *_record_type(_ALL_FIELDS))

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
