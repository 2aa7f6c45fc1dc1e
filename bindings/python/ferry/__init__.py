# SPDX-License-Identifier: MIT
"""Attributes, contents and trees of many files in one call."""

from ferry import _ferry as _ferry  # first: it refuses interpreters in which NumPy would fail
from ferry import files as _files
from ferry._ferry import Names
from ferry.aio import ahash_many, aread_many, astat_many, awalk
from ferry.call import ALL_FIELDS as _ALL_FIELDS
from ferry.call import FIELDS
from ferry.call import record_type as _record_type
from ferry.entries import Entries
from ferry.files import Chunk, read_chunks
from ferry.hashes import hash_many
from ferry.memory import Prefaulted, prefault
from ferry.program import ALWAYS, END, NOT_RUN, ON_FAIL, ON_POS, ON_ZERO, Problem, Program, Slot
from ferry.tree import DT_DIR, DT_LNK, DT_REG, Tree
from ferry.walks import Block, walk, walk_blocks

stat_many, read_many = _ferry.quick(_files.stat_many, _files.read_many, *_record_type(_ALL_FIELDS))

# Pickles name them where everybody finds them.
for _kind in (Block, Entries, Tree):
    _kind.__module__ = "ferry"

__version__ = _ferry.VERSION

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
    "Block",
    "Chunk",
    "Entries",
    "Names",
    "Prefaulted",
    "Problem",
    "Program",
    "Slot",
    "Tree",
    "ahash_many",
    "aread_many",
    "astat_many",
    "awalk",
    "hash_many",
    "prefault",
    "read_chunks",
    "read_many",
    "stat_many",
    "walk",
    "walk_blocks",
]


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__version__"]
