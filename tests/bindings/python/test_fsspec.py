# SPDX-License-Identifier: MIT
"""The file system for fsspec passes the tests that fsspec has for any."""

from pathlib import Path
from typing import Any

import pytest

abstract: Any = pytest.importorskip("fsspec.tests.abstract")


class Fixtures(abstract.AbstractFixtures):  # type: ignore[misc]
    @pytest.fixture
    def fs(self) -> Any:  # noqa: ANN401 (of fsspec)
        from ferry.filesystem import FerryFileSystem

        return FerryFileSystem(auto_mkdir=True)

    @pytest.fixture
    def fs_path(self, tmp_path: Path) -> str:
        return str(tmp_path)


class TestCopy(abstract.AbstractCopyTests, Fixtures):  # type: ignore[misc]
    pass


class TestGet(abstract.AbstractGetTests, Fixtures):  # type: ignore[misc]
    pass


class TestPut(abstract.AbstractPutTests, Fixtures):  # type: ignore[misc]
    pass


class TestOpen(abstract.AbstractOpenTests, Fixtures):  # type: ignore[misc]
    pass


class TestPipe(abstract.AbstractPipeTests, Fixtures):  # type: ignore[misc]
    pass
