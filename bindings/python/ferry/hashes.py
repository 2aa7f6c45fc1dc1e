# SPDX-License-Identifier: MIT
"""Digests of many files."""

from typing import Any, Literal, overload

from ferry import _ferry
from ferry.call import (
    THREADS,
    WAITS,
    Directory,
    Paths,
    Progress,
    documented,
    make_options,
    open_directory,
)
from ferry.files import check_on_error, read_flags, split

Algorithm = Literal["sha256", "xxh3", "blake3"]


@overload
def hash_many(
    paths: Paths,
    algorithm: Algorithm = ...,
    /,
    *,
    directory: Directory | None = ...,
    on_error: Literal["raise"] = ...,
    devices: bool = ...,
    regular: bool = ...,
    threads: int = ...,
    timeout: float | None = ...,
    progress: Progress | None = ...,
) -> list[bytes]: ...
@overload
def hash_many(
    paths: Paths,
    algorithm: Algorithm = ...,
    /,
    *,
    directory: Directory | None = ...,
    on_error: Literal["return"],
    devices: bool = ...,
    regular: bool = ...,
    threads: int = ...,
    timeout: float | None = ...,
    progress: Progress | None = ...,
) -> list[bytes | OSError]: ...
@documented(THREADS, WAITS)
def hash_many(
    paths: Paths,
    algorithm: Algorithm = "sha256",
    /,
    *,
    directory: Directory | None = None,
    on_error: Literal["raise", "return"] = "raise",
    devices: bool = False,
    regular: bool = False,
    threads: int = 0,
    timeout: float | None = None,
    progress: Progress | None = None,
) -> list[Any]:
    """The digests of many files: hash_many(paths), or hash_many(paths, "xxh3") and so on.

    The threads that read the files compute the digests.  "sha256" is OpenSSL's, which hashlib uses,
    too; "xxh3" (64 bits) needs libxxhash or the package xxhash, and "blake3" the package blake3.

    >>> [digest] = hash_many(["a"], "sha256", directory=directory)
    >>> digest.hex()[:16]
    'a7937b64b8caa58f'

    directory: what paths are relative to: a path or a descriptor.
    on_error: "raise" raises the OSError of the first file that failed; "return" has it in place of
        the digest.
    devices: read character and block devices, too.  FIFOs and sockets always fail.
    regular: the files are known to be regular, which saves looking at each before it is opened.
    """
    check_on_error(on_error)
    if not isinstance(algorithm, str):
        raise TypeError(f"algorithm must be the name of a hash, not {algorithm!r}")
    options = make_options(threads, timeout, progress)
    flags = read_flags(devices, regular)
    with open_directory(directory) as fd:
        digests = _ferry.hash_many(fd, split(paths, None)[1], algorithm, flags, options)
    if on_error == "raise":
        for digest in digests:
            if isinstance(digest, OSError):
                raise digest
    return digests
