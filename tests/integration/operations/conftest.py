"""What tests of operations find: a desk over a fresh database."""

from collections.abc import Callable

import pytest

from models.config import Config
from models.store.database import Database
from tests.integration.operations.operations_desk import OperationsDesk, operations_config


@pytest.fixture
def operations_desk(configure: Callable[..., Config], database: Database) -> OperationsDesk:
    """Who asks for operations and decides; its runner works in `operations_desk.running()`."""
    return OperationsDesk(operations_config(configure), database)
