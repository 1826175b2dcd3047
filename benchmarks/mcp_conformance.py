"""mcp_conformance: MCP's official conformance suite, against our own door (`/mcp`) and agents' own client.

The door is the whole app over real HTTP, without Ray. The suite has no option for a token, so one is added to
each request before the app sees it. The client is `tests.conformance.client`, against the suite's servers.
Both in both eras of the protocol; `tests/conformance/not_applicable.yaml` says what does not apply, and why.
Needs npm, which gets the suite once; where there is none, it says so and measures nothing.
Aim: all that applies passes.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from benchmarks.harness import machine
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Aim, Report, Table
from models.config import Config
from models.store.content import prompts
from models.store.database import Database
from serve.api import make_app
from tests.conformance import suite
from tests.conformance.suite import ERAS, Outcome, Side, State, SuiteMissing
from tests.integration.doors.mcp_client import bearer, serving

Outcomes = Mapping[str, Sequence[Outcome]]
_COMMAND = f"{sys.executable} -m tests.conformance.client"


def measure(bench: Bench) -> Report:
    """Each scenario of each era by itself."""
    try:
        suite.install()
    except SuiteMissing as error:
        return Report("mcp_conformance", "Not measured.", (), (), (), (str(error),))
    _, config = bench.configure({"tools.rate_limit": {"calls": 1_000_000, "per_seconds": 1}})
    with bench.database() as url:
        found: dict[Side, Outcomes] = {
            "server": asyncio.run(_of_the_door(config, url)),
            "client": _of_the_client(),
        }
    return Report(
        name="mcp_conformance",
        measured=f"`@modelcontextprotocol/conformance` {suite.VERSION}. In brackets: the checks that passed. "
        "A scenario that does not apply is run as well, but those for a browser: what is sent in it must be "
        "valid by the protocol's schema.",
        machine=[*machine.describe_host(repetitions=1), machine.describe_packages(["mcp"])],
        tables=[table for side, outcomes in found.items() for table in _tables(side, outcomes)],
        aims=[_aim(side, era, outcomes[era]) for side, outcomes in found.items() for era in ERAS],
        notes=_notes(found),
    )


async def _of_the_door(config: Config, database_url: str) -> Outcomes:
    async with Database(url=database_url, pool_size=2) as database, database.transaction() as connection:
        await prompts.take_in_tonalities(connection, config.publishing.prompts_dir / "tonalities")
    token = bearer(config.auth, "macro:admin")["Authorization"]
    async with serving(_with_token(make_app(config, database_url), token)) as url:
        return {era: await asyncio.to_thread(suite.run_server, era, f"{url}/mcp") for era in ERAS}


def _with_token(app: ASGIApp, token: str) -> ASGIApp:
    """The app behind what adds a token to each request."""

    async def admitted(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", token.encode())]}
        await app(scope, receive, send)

    return admitted


def _of_the_client() -> Outcomes:
    excused = suite.reasons("client")
    return {
        era: [
            # Without a browser these wait for one in vain.
            Outcome(scenario, 0, (), excused[scenario])
            if scenario in excused and scenario.startswith("auth/")
            else suite.run_client(era, scenario, _COMMAND)
            for scenario in suite.scenarios("client", era)
        ]
        for era in ERAS
    }


def _tables(side: Side, outcomes: Outcomes) -> list[Table]:
    counts = {era: Counter(each.state for each in outcomes[era]) for era in ERAS}
    states: tuple[State, ...] = ("passed", "not applicable", "failed")
    told = {
        era: {each.scenario: _told(each) for each in outcomes[era] if each.reason is None} for era in ERAS
    }
    applying = list(dict.fromkeys(name for era in ERAS for name in told[era]))
    return [
        Table(
            f"{side}: scenarios",
            ("", *ERAS),
            [[state, *(str(counts[era][state]) for era in ERAS)] for state in states],
        ),
        Table(
            f"{side}: what applies",
            ("scenario", *ERAS),
            [[name, *(told[era].get(name, "") for era in ERAS)] for name in applying],
        ),
    ]


def _told(outcome: Outcome) -> str:
    return f"{outcome.state} ({outcome.passed})"


def _aim(side: Side, era: str, outcomes: Sequence[Outcome]) -> Aim:
    failed = [each for each in outcomes if each.state == "failed"]
    applying = [each for each in outcomes if each.reason is None]
    found = f"{len(applying) - len(failed)} of {len(applying)}"
    faults = "; ".join(f"{each.scenario}: {each.faults[0][:200]}" for each in failed)
    return Aim(
        f"{side}, {era}: all that applies passes", not failed, f"{found}{f' ({faults})' if faults else ''}"
    )


def _notes(found: Mapping[Side, Outcomes]) -> list[str]:
    notes: list[str] = []
    for side, outcomes in found.items():
        run = {each.scenario for era in ERAS for each in outcomes[era]}
        by_reason: dict[str, list[str]] = {}
        for name, reason in suite.reasons(side).items():
            if name.partition(":")[0] in run:
                by_reason.setdefault(reason, []).append(name)
        notes += [
            f"{side}, not applicable: {reason}: {', '.join(names)}" for reason, names in by_reason.items()
        ]
        notes.append(f"{side}, extensions that are not offered: {', '.join(suite.of_extensions(side))}")
    return [*notes, "the client under test is the SDK's own, configured as agents have it: it only reads"]
