"""Who submitted a batch."""

import getpass
import json

import pytest

from actors.platform.runtime.submitter import METADATA, submitter
from models.errors import InputInvalid

RAY = "RAY_JOB_CONFIG_JSON_ENV_VAR"


def test_it_is_who_is_named_else_who_submitted_the_job_else_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RAY, raising=False)
    monkeypatch.setenv("LOGNAME", "olga")
    assert submitter(None) == getpass.getuser() == "olga"
    monkeypatch.setenv(RAY, json.dumps({"metadata": {METADATA: "ann"}, "runtime_env": {}}))
    assert submitter(None) == "ann"
    assert submitter("bob") == "bob"
    monkeypatch.setenv(RAY, json.dumps({"metadata": None}))
    assert submitter(None) == "olga"


@pytest.mark.parametrize("name", ["", " ann", "edit_articles", "Batch", "a\u200bb"])
def test_a_batch_names_a_person(name: str) -> None:
    with pytest.raises(InputInvalid, match="--as"):
        submitter(name)
