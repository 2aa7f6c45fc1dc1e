# SPDX-License-Identifier: MIT
"""Walks of trees: whole, or by blocks."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from ferry import _ferry
from ferry.call import (
    ALL_FIELDS,
    THREADS,
    WAITS,
    Directory,
    Progress,
    StrPath,
    as_array,
    callback,
    documented,
    make_options,
    open_directory,
    record_type,
    whole,
)
from ferry.entries import Entries
from ferry.tree import Tree

FOLLOW = 0x1
FOLLOW_ROOT = 0x2
XDEV = 0x4
SORTED = 0x8

MOST_DEPTH = 2**32 - 1

WALKING = """stat: whether to look up the attributes of each entry, or which: names in FIELDS.
directory: what root is relative to: a path or a descriptor.
follow_symlinks: follow all symbolic links; one that leads nowhere is an entry itself.
follow_root: follow root itself if it is a symbolic link.
same_device: stay out of directories on other devices than the root.
sort: entries in the order of their names, and directories in the order of a recursion.
max_depth: the depth of the deepest entries; the root has depth 0.
hidden: False leaves out names that begin with a dot, and everything below them.
include: patterns; a file that matches none of them is left out.  Directories are not.
exclude: patterns; an entry that matches one of them is left out, and everything below it.
    A pattern is a line of a .gitignore: without a slash it matches names, with a slash it matches
    paths below the root; ** stands for any directories, and a slash at the end means directories.
ignore_file: the name of files that have such patterns for their directories: ".gitignore".
prune: a function of a directory's path; the walk stays out where it returns something true.
    Several threads may call it, one at a time.
"""


class How(NamedTuple):
    """The arguments of a walk as C++ takes them."""

    paths: _ferry.Paths
    flags: int
    layout: _ferry.Layout
    filter: _ferry.Filter
    prune: Callable[[str], object] | None
    options: _ferry.Options


def patterns(what: str, texts: Iterable[StrPath]) -> list[bytes]:
    if isinstance(texts, str | bytes):
        raise TypeError(f"{what} is a single pattern; pass a list of patterns")
    return [os.fsencode(text) for text in texts]


def prepare(
    root: StrPath,
    stat: bool | Iterable[str],
    flags: dict[int, bool],
    max_depth: SupportsIndex | None,
    hidden: bool,
    include: Iterable[StrPath],
    exclude: Iterable[StrPath],
    ignore_file: StrPath | None,
    prune: Callable[[str], object] | None,
    options: _ferry.Options,
) -> How:
    callback("prune", prune)
    fields = ALL_FIELDS if stat is True else tuple(stat) if stat else ()
    depth = MOST_DEPTH if max_depth is None else whole("max_depth", max_depth, 0, MOST_DEPTH)
    left_out = _ferry.Filter(
        depth,
        not hidden,
        patterns("include", include),
        patterns("exclude", exclude),
        None if ignore_file is None else os.fsencode(ignore_file),
    )
    return How(
        _ferry.Paths((root,)),
        sum(flag for flag, is_set in flags.items() if is_set),
        record_type(fields)[1],
        left_out,
        prune,
        options,
    )


@documented(WALKING, THREADS, WAITS)
def walk(
    root: StrPath,
    /,
    *,
    stat: bool | Iterable[str] = False,
    directory: Directory | None = None,
    follow_symlinks: bool = False,
    follow_root: bool = True,
    same_device: bool = False,
    sort: bool = False,
    max_depth: int | None = None,
    hidden: bool = True,
    include: Iterable[StrPath] = (),
    exclude: Iterable[StrPath] = (),
    ignore_file: StrPath | None = None,
    prune: Callable[[str], object] | None = None,
    threads: int = 0,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Tree:
    """Walks the tree at root and returns its entries.

    The error of an entry or of a directory is in the column error; that of the root is raised.

    >>> tree = walk(directory, stat=("size",), sort=True)
    >>> [os.path.relpath(path, directory) for path in tree["path"]]
    ['.', 'a', 'b']
    >>> int(tree["size"][tree["type"] == DT_REG].sum())
    11
    >>> walk(directory, include=["a*"], sort=True).names[1:]
    Names(['a'])
    """
    flags = {FOLLOW: follow_symlinks, FOLLOW_ROOT: follow_root, XDEV: same_device, SORTED: sort}
    options = make_options(threads, timeout, progress)
    how = prepare(
        root, stat, flags, max_depth, hidden, include, exclude, ignore_file, prune, options
    )
    with open_directory(directory) as fd:
        tree = Tree._of(_ferry.walk(fd, *how))
    assert isinstance(tree, Tree)
    if tree["error"][0]:
        raise _ferry.os_error(int(tree["error"][0]), root)
    return tree


class Block(Entries):
    """Some entries of a tree, as walk_blocks() yields them."""

    failed: list[OSError]
    """Of directories that could not be read to their ends, entries of this or an earlier block."""


def make_block(columns: dict[str, Any], *rest: Any) -> Block:  # noqa: ANN401 (from C++)
    folders, failed, failures = rest
    block = Block._of(columns, folders)
    assert isinstance(block, Block)
    errors = as_array(failures, np.int32).tolist()
    block.failed = [_ferry.os_error(*pair) for pair in zip(errors, failed, strict=True)]
    return block


@documented(WALKING, THREADS, WAITS)
def walk_blocks(
    root: StrPath,
    /,
    *,
    stat: bool | Iterable[str] = False,
    directory: Directory | None = None,
    follow_symlinks: bool = False,
    follow_root: bool = True,
    same_device: bool = False,
    sort: bool = False,
    max_depth: int | None = None,
    hidden: bool = True,
    include: Iterable[StrPath] = (),
    exclude: Iterable[StrPath] = (),
    ignore_file: StrPath | None = None,
    prune: Callable[[str], object] | None = None,
    threads: int = 0,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> Iterator[Block]:
    """Walks the tree at root and yields its entries, some thousand at a time, while it goes on.

    An entry comes after its directory.  The walk waits for its caller and takes memory for some
    blocks only.  It ends with the iterator.

    >>> for block in walk_blocks(directory, stat=("size",), include=["b"]):
    ...     [os.path.relpath(path, directory) for path in block["path"]]
    ['.', 'b']
    """
    flags = {FOLLOW: follow_symlinks, FOLLOW_ROOT: follow_root, XDEV: same_device, SORTED: sort}
    options = make_options(threads, timeout, progress)
    how = prepare(
        root, stat, flags, max_depth, hidden, include, exclude, ignore_file, prune, options
    )
    return blocks(root, directory, how)


def blocks(root: StrPath, directory: Directory | None, how: How) -> Iterator[Block]:
    with open_directory(directory) as fd:
        stream = _ferry.Stream(fd, *how)
        try:
            is_first = True
            while piece := stream.next():
                block = make_block(*piece)
                if is_first and block["error"][0]:
                    raise _ferry.os_error(int(block["error"][0]), root)
                is_first = False
                yield block
        finally:
            stream.close()
