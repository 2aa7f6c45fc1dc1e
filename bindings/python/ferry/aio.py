# SPDX-License-Identifier: MIT
"""The functions of the package for asyncio: each works in a thread of its own.

A task that is cancelled waits until the thread has ended its work, which is soon.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import copy_context
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ferry import _ferry
from ferry.call import CANCEL
from ferry.files import read_many, stat_many
from ferry.hashes import hash_many
from ferry.walks import walk

P = ParamSpec("P")
T = TypeVar("T")


def start(function: Callable[[], T], cancel: _ferry.Cancel) -> asyncio.Future[T]:
    """Calls FUNCTION in a thread, where CANCEL ends it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = copy_context()

    def finish(result: T | None, error: BaseException | None) -> None:
        if error:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def tell(result: T | None, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop was closed, and nobody waits
            loop.call_soon_threadsafe(finish, result, error)

    def work() -> None:
        CANCEL.set(cancel)
        try:
            result = function()
        except BaseException as error:
            tell(None, error)
        else:
            tell(result, None)

    threading.Thread(target=context.run, args=(work,), name="ferry", daemon=True).start()
    return future


async def ended(future: Awaitable[Any]) -> None:
    """Waits even where it is cancelled again."""
    task = asyncio.ensure_future(future)
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            continue
    task.exception()  # which nobody else looks at


async def in_thread(function: Callable[[], T]) -> T:
    cancel = _ferry.Cancel()
    future = start(function, cancel)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        cancel.cancel()
        await ended(future)
        raise


def asynchronous(function: Callable[P, T], more: str = "") -> Callable[P, Coroutine[Any, Any, T]]:
    @wraps(function)
    async def call(*args: P.args, **how: P.kwargs) -> T:
        return await in_thread(lambda: function(*args, **how))

    call.__name__ = call.__qualname__ = f"a{function.__name__}"
    call.__doc__ = f"Like {function.__name__}(), for asyncio{more}.\n\n{function.__doc__}"
    call.__annotations__ = dict(function.__annotations__)
    return call


@wraps(read_many)
def read_list(*args: Any, **how: Any) -> list[Any]:  # noqa: ANN401 (of read_many())
    return list(read_many(*args, **how))


astat_many = asynchronous(stat_many)
ahash_many = asynchronous(hash_many)
awalk = asynchronous(walk)
aread_many = asynchronous(read_list, "; returns a list")
aread_many.__annotations__["return"] = list[bytes | memoryview | OSError]
