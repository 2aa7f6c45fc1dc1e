# SPDX-License-Identifier: MIT
"""The functions for asyncio, and their cancellation."""

import asyncio
import hashlib
import inspect
import threading
import time
import typing
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import ferry
import numpy as np
import pytest

MANY = 3_000_000


def test_results(tree: Path) -> None:
    async def work() -> None:
        names = ["a", "b"]
        assert await ferry.aread_many(tree, names) == [b"first", b"second"]
        stats, errors = await ferry.astat_many(tree, [*names, "missing"], fields=("size",))
        assert stats["size"].tolist() == [5, 6, 0] and errors.tolist() == [0, 0, 2]
        found = await ferry.awalk(tree, sort=True)
        assert found == ferry.walk(tree, sort=True)
        digests = await ferry.ahash_many(names, directory=tree)
        assert digests == [hashlib.sha256(text).digest() for text in (b"first", b"second")]
        with pytest.raises(FileNotFoundError):
            await ferry.aread_many([tree / "missing"])
        with pytest.raises(TypeError, match="unexpected keyword"):
            await ferry.astat_many([tree], nothing=1)  # type: ignore[call-arg]

    asyncio.run(work())


def test_many_at_once(tree: Path) -> None:
    async def work() -> None:
        calls = [ferry.aread_many([tree / "a"] * 50) for _ in range(100)]
        assert await asyncio.gather(*calls) == [[b"first"] * 50] * 100

    asyncio.run(work())
    time.sleep(0.5)
    assert not [thread for thread in threading.enumerate() if thread.name == "ferry"]


Work = Callable[[ferry.Names, Callable[[int], object]], Coroutine[Any, Any, object]]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> ferry.Names:
    path = tmp_path_factory.mktemp("many") / "a"
    path.write_bytes(b"first")
    return ferry.Names([str(path)] * MANY)


LONG: dict[str, Work] = {
    "stat": lambda many, seen: ferry.astat_many(many, progress=seen),
    "read": lambda many, seen: ferry.aread_many(many, progress=seen),
    "ranges": lambda many, seen: ferry.aread_many(
        many, lengths=np.ones(MANY, np.int64), progress=seen
    ),
    "hash": lambda many, seen: ferry.ahash_many(many, progress=seen),
    "walk": lambda many, seen: ferry.awalk("/", stat=True, progress=seen),
}


@pytest.mark.parametrize("work", LONG)
def test_cancellation(many: ferry.Names, work: str) -> None:
    """It ends the work, and the task once nothing of it goes on."""
    seen: list[int] = []

    async def run() -> None:
        task = asyncio.create_task(LONG[work](many, seen.append))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        count = len(seen)
        await asyncio.sleep(0.5)  # a thread that has told its result is about to end
        assert not [thread for thread in threading.enumerate() if thread.name == "ferry"]
        assert len(seen) == count and max(seen, default=0) < MANY

    asyncio.run(run())


def test_a_timeout_of_asyncio(many: ferry.Names) -> None:
    async def run() -> None:
        async with asyncio.timeout(0.2):
            await LONG["stat"](many, print)

    with pytest.raises(TimeoutError):
        asyncio.run(run())


def test_the_loop_goes_on(tree: Path) -> None:
    async def run() -> int:
        task = asyncio.create_task(ferry.astat_many(ferry.Names([str(tree / "a")] * 300_000)))
        turns = 0
        while not task.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns

    assert asyncio.run(run()) > 3


def test_others_are_not_cancelled(tree: Path, many: ferry.Names) -> None:
    async def run() -> None:
        long = asyncio.create_task(LONG["stat"](many, print))
        short = asyncio.create_task(ferry.aread_many([tree / "a"] * 5000))
        await asyncio.sleep(0.05)
        long.cancel()
        assert len(await short) == 5000
        with pytest.raises(asyncio.CancelledError):
            await long

    asyncio.run(run())
    assert ferry.stat_many([tree / "a"])[1].tolist() == [0]


def test_how_they_are_described() -> None:
    for name in ("aread_many", "astat_many", "ahash_many", "awalk"):
        function, plain = getattr(ferry, name), getattr(ferry, name[1:])
        assert inspect.iscoroutinefunction(function) and function.__name__ == name
        assert inspect.signature(function).parameters == inspect.signature(plain).parameters
        assert function.__doc__.startswith(f"Like {name[1:]}(), for asyncio")
        assert "return" in typing.get_type_hints(function)
