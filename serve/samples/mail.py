"""The sample server `mail`: a mailbox of accounts payable. `python -m serve.samples.mail` serves it on stdio.

What it holds is text from outside. What is sent stays in the memory of this process.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from mcp.server.lowlevel import Server
from pydantic import Field, StringConstraints

from models.errors import InputInvalid
from models.record import Record
from serve.samples.data import MailSamples, MessageId, SampleMessage, SampleSet
from serve.samples.search import page, ranked
from serve.samples.tools import (
    MOST_WRITTEN,
    PagedInput,
    Query,
    make_sample_server,
    run_on_stdio,
    sample_tool,
)

Address = Annotated[
    str,
    StringConstraints(pattern=r"^[^\s@<>,;]{1,64}@[^\s@<>,;]{1,190}$"),
    Field(description="An address alone, without a name."),
]


class SearchMessages(PagedInput):
    """Input of `search_messages`."""

    query: Query = ""


class FoundMessages(Record):
    """Messages that have most of the query's words first; among equals the newest first."""

    messages: tuple[SampleMessage, ...]
    total: int
    next_cursor: str | None = None


class ReadMessage(Record):
    """Input of `read_message`."""

    id: MessageId


class MessageRead(Record):
    """A message, and the ids of all messages of its thread, the oldest first."""

    message: SampleMessage
    thread: tuple[str, ...]


class ListThreads(PagedInput):
    """Input of `list_threads`."""

    query: Query = ""


class SampleThread(Record):
    """A thread in short."""

    id: str
    subject: str
    participants: tuple[str, ...]
    messages: int
    last_date: datetime


class ListedThreads(Record):
    """Threads; without a query the one with the newest message first."""

    threads: tuple[SampleThread, ...]
    total: int
    next_cursor: str | None = None


class SendMessage(Record):
    """Input of `send_message`."""

    to: Annotated[tuple[Address, ...], Field(min_length=1, max_length=20)]
    subject: Annotated[str, Field(min_length=1, max_length=300)]
    body: Annotated[str, Field(min_length=1, max_length=20_000)]
    thread_id: Annotated[
        str | None, Field(description="The thread that it answers in; else it begins one.")
    ] = None


class MessageSent(Record):
    """The message as it is kept now."""

    message: SampleMessage


class Mailbox:
    """The messages, and those that were sent. `now` is the clock."""

    def __init__(self, samples: MailSamples, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._owner = samples.owner
        self._messages = list(samples.messages)
        self._begun_with = len(self._messages)
        self._now = now

    @sample_tool()
    def search_messages(self, asked: SearchMessages) -> FoundMessages:
        """Search the mailbox of accounts payable by words, addresses or invoice numbers."""
        found = ranked(asked.query, self._messages[::-1], _text)
        shown, more = page(found, asked.limit, asked.cursor)
        return FoundMessages(messages=shown, total=len(found), next_cursor=more)

    @sample_tool()
    def read_message(self, asked: ReadMessage) -> MessageRead:
        """Read one message, and see which others are in its thread."""
        for message in self._messages:
            if message.id == asked.id:
                return MessageRead(
                    message=message, thread=tuple(each.id for each in self._of_thread(message.thread_id))
                )
        raise InputInvalid(f"id: there is no message {asked.id!r}: take one from search_messages")

    @sample_tool()
    def list_threads(self, asked: ListThreads) -> ListedThreads:
        """List threads of mails: subject, who takes part, how many messages, date of the last one."""
        found = ranked(asked.query, self._messages[::-1], _text)
        ids = list(dict.fromkeys(message.thread_id for message in found))
        shown, more = page(ids, asked.limit, asked.cursor)
        return ListedThreads(threads=tuple(map(self._thread, shown)), total=len(ids), next_cursor=more)

    @sample_tool(reads=False, only_adds=True)
    def send_message(self, asked: SendMessage) -> MessageSent:
        """Send a message as accounts payable. In this sample it stays in the mailbox."""
        if len(self._messages) - self._begun_with >= MOST_WRITTEN:
            raise InputInvalid(
                f"body: this sample takes {MOST_WRITTEN} messages, and has them: start it anew"
            )
        thread = asked.thread_id
        if thread is not None and not self._of_thread(thread):
            raise InputInvalid(f"thread_id: there is no thread {thread!r}: leave it out, or see list_threads")
        number = len(self._messages) + 1
        sent = {
            "id": f"m-{number:03}",
            "thread_id": thread or f"t-{number:03}",
            "subject": asked.subject,
            "from": self._owner,
            "to": asked.to,
            "date": self._now(),
            "body": asked.body,
        }
        message = SampleMessage.model_validate(sent)
        self._messages.append(message)
        return MessageSent(message=message)

    def _of_thread(self, thread_id: str) -> list[SampleMessage]:
        return [message for message in self._messages if message.thread_id == thread_id]

    def _thread(self, thread_id: str) -> SampleThread:
        messages = self._of_thread(thread_id)
        people = dict.fromkeys(
            who for message in messages for who in (message.sender, *message.to, *message.cc)
        )
        return SampleThread(
            id=thread_id,
            subject=messages[0].subject,
            participants=tuple(people),
            messages=len(messages),
            last_date=max(message.date for message in messages),
        )


def _text(message: SampleMessage) -> str:
    return "\n".join((message.id, message.subject, message.sender, *message.to, *message.cc, message.body))


def mail_server(samples: SampleSet) -> Server[Any]:
    """The MCP server over a mailbox of its own."""
    return make_sample_server("mail", "Sample mail", Mailbox(samples.mail))


if __name__ == "__main__":
    run_on_stdio(mail_server)
