"""The first step of a research: what is asked for, told once and kept in its row. Seed 002 §5 (node 1).

Called by the steps. What the request says stands; all later steps go by the task type that is kept here.
"""

from actors.platform.runtime.run import Run
from models.llm import Answer
from models.research.agent_workflows import AgentWorkflow, ResearchTask
from models.research.intents import IntentReading
from models.store.database import Connection
from models.store.knowledge import sources
from models.store.research import agent_workflows, progress


async def classify(run: Run, research: AgentWorkflow, task: ResearchTask) -> IntentReading:
    """Have the query read, and keep what it asks for with the reasoning."""

    async def read() -> Answer[IntentReading]:
        answer: Answer[IntentReading] = await run.agent("intent_reader").read(task.user_query, task.task_type)
        return answer

    told = await run.once("intent", IntentReading, read)

    async def act(connection: Connection) -> IntentReading:
        intent = await _that_can_be_done(connection, research, task, told)
        await agent_workflows.classified(connection, research.id, intent)
        await progress.say(
            connection,
            research.id,
            agent="researcher",
            step="classify_intent",
            content=f"it is taken for {intent.task_type} of {intent.complexity} complexity",
            reasoning=intent.reasoning,
            metadata=intent.model_dump(mode="json", exclude={"reasoning"}),
        )
        return intent

    return await run.effect("classified", IntentReading, act)


async def _that_can_be_done(
    connection: Connection, research: AgentWorkflow, task: ResearchTask, told: IntentReading
) -> IntentReading:
    """What was told; work on what is held becomes research where pages are named, or nothing is held."""
    if told.found == "given" or told.task_type != "analyze":
        return told
    why = "addresses are given"
    if not task.urls:
        if await sources.with_text(connection, research.project_id):
            return told
        why = "its project holds nothing yet"
    reasoning = f"{told.reasoning}; but {why}, so pages are looked for"
    return told.model_copy(update={"task_type": "research", "reasoning": reasoning})
