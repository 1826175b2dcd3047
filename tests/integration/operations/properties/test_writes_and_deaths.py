"""Writes under whatever servers, people and deaths do to them: each is sent once for each yes to it."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.operations.properties.operation_facts import OperationFacts
from tests.integration.operations.properties.played_operation import House, PlayedOperation
from tests.integration.operations.properties.staged_agents import WRITES, PlanShape, behave

_DOINGS = ("is well", "is well", "loses answers", "is away", "is declared otherwise")


@dataclass(frozen=True)
class Turn:
    """What a person says to what is asked, how the server is before that, and when processes die after it."""

    yes: bool
    doing: str
    deaths: Sequence[int]


_turns = st.lists(
    st.builds(
        Turn,
        yes=st.sampled_from((True, True, True, False)),
        doing=st.sampled_from(_DOINGS),
        deaths=st.lists(st.integers(1, 24), max_size=2),
    ),
    min_size=1,
    max_size=7,
)


# All of them in the suite, too: with fewer a write that is sent again after its answer was lost goes by.
@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(turns=_turns)
def test_a_write_is_sent_once_for_each_yes_to_it_whatever_happens(house: House, turns: list[Turn]) -> None:
    async def work() -> None:
        play = PlayedOperation(house, shapes=[PlanShape(("crm",))])
        play.servers["crm"].writes = WRITES
        await play.begin("what is open")
        facts = await play.carry()
        for turn in turns:
            if facts.pending is None:
                break
            behave(play.servers["crm"], turn.doing)
            await _answer(play, facts, yes=turn.yes)
            facts = await play.carry(turn.deaths)

    house.run(work())


async def _answer(play: PlayedOperation, facts: OperationFacts, *, yes: bool) -> None:
    """Yes or no to what is asked. A no to results has the CRM read once more; a yes, too, for it to go on."""
    assert facts.pending is not None
    match facts.pending["kind"]:
        case "operation_plan":
            await play.decide("decide_operation_plan", approved=True)
        case "operation_write":
            await play.decide("decide_operation_agent", answer="accept" if yes else "skip")
        case "operation_question":
            await play.decide("decide_operation_agent", answer="retry" if yes else "skip")
        case "operation_results":
            await play.decide(
                "decide_operation_results",
                approved=False,
                revision_type="specific_agents",
                target_agents=["crm"],
                feedback="read once more",
            )
        case kind:
            raise AssertionError(f"nobody is asked for {kind} here")
