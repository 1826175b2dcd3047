"""The first step of a research: what is asked for, told once and kept in its row. Seed 002 §5 (node 1).

Called by the steps. What the request says stands; all later steps go by the task type that is kept here.
"""

from actors.runtime.run import Run
from models.llm import Answer
from models.research.agent_workflows import AgentWorkflow, ResearchTask
from models.research.intents import IntentReading
from models.store.database import Connection
from models.store.research import agent_workflows, progress


async def classify(run: Run, research: AgentWorkflow, task: ResearchTask) -> IntentReading:
    """Have the query read, and keep what it asks for with the reasoning."""

    async def read() -> Answer[IntentReading]:
        answer: Answer[IntentReading] = await run.agent("intent_reader").read(task.user_query, task.task_type)
        return answer

    intent = await run.once("intent", IntentReading, read)

    async def act(connection: Connection) -> IntentReading:
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
