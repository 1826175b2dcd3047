"""The commands that every kind of gated work has, and what its own commands are made of.

A kind is named here and loaded by the commands that need it: `signoff --help` is quick.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from cluster.cli.commands.options import ANALYST, Client, by_a_person, console

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console

    from cluster.cli.gated.deciding import Deciding
    from cluster.cli.gated.kind import TerminalKind
    from cluster.cli.gated.work import Work

_R = TypeVar("_R", bound="BaseModel")
AsJson = Annotated[bool, typer.Option("--json", help="For scripts: as the site tells it.")]
Status = Annotated[str | None, typer.Option(help="Such as completed, or 'awaiting approval'.")]
Before = Annotated[int | None, typer.Option(metavar="ID", help="Older than this one.")]
Limit = Annotated[int | None, typer.Option(min=1, max=100, help="How many at most.")]
RequestId = Annotated[str | None, typer.Option(help="The same again is the same one, never a second one.")]
FollowIt = Annotated[bool, typer.Option("--follow/--no-follow", help="Follow it.")]
_FOLLOW = """Show how far one is until it ends, and what waits for you. Without a terminal nobody is asked.

Exit code 0: done; 1: failed; 3: it waits for a person; 4: it ended without {result}; 130: Ctrl-C.
"""


@dataclass(frozen=True)
class Room:
    """The commands of a kind: `signoff NAME`. `noun` is one of it, `path` its API, `kind` its declaration.

    `stop` is the word that ends one for good, and `result` what it ends with where all goes well.
    """

    name: str
    noun: str
    path: str
    kind: str
    stop: str
    stop_help: str
    result: str

    def loaded(self) -> "TerminalKind[Any]":
        """The declaration."""
        import pkgutil

        kind: TerminalKind[Any] = pkgutil.resolve_name(self.kind)
        return kind

    def command(self, client: Client, *words: object) -> str:
        """A command to type next, with the options with which the person called."""
        from cluster.cli.typed import typed

        return typed([self.name, *words], client.options)

    @contextmanager
    def work(self, client: Client, *, decides: bool = False) -> "Iterator[Work]":
        """What the person may see of it."""
        from cluster.cli.gated.work import Work

        with client.door(decides=decides) as door:
            yield Work(door, self.name, self.noun, self.path, client.options)

    def present(
        self,
        client: Client,
        expected: type[_R],
        show: "Callable[[_R, Console], None]",
        path: str,
        *,
        as_json: bool,
        **params: Any,
    ) -> _R | None:
        """Print what the site answers to GET: as it is for scripts, else as `show` does for people."""
        from cluster.cli.printing import print_json
        from cluster.cli.records import read

        with self.work(client) as work:
            told = work.told(path, **params)
        if as_json:
            print_json(told)
            return None
        found = read(expected, told)
        show(found, console())
        return found

    def listed(
        self,
        client: Client,
        expected: type[_R],
        table: "Callable[[_R, Console], None]",
        *,
        as_json: bool,
        before: int | None,
        **narrowed: Any,
    ) -> None:
        """Print the newest, and how the older ones are seen; `narrowed` are the API's parameters."""
        from cluster.cli.printing import command_line

        asked = narrowed | {"status": (narrowed["status"] or "").replace(" ", "_") or None}
        found = self.present(client, expected, table, "", as_json=as_json, before=before, **asked)
        if (older := getattr(found, "next_before", None)) is None:
            return
        words: list[object] = []
        for name, value in {**narrowed, "before": older}.items():
            option = f"--{name.removesuffix('_id')}"
            words += [] if value is None else [option] if value is True else [option, value]
        command_line(console(), "older ones", self.command(client, "list", *words))

    def begin(
        self,
        client: Client,
        expected: type[_R],
        request: "type[BaseModel]",
        given: Mapping[str, Any],
        told: Callable[[_R], tuple[int, str]],
        *,
        path: str = "",
        follow: bool,
    ) -> None:
        """Begin one, and follow it; `told` makes its number and a line of what the site answers.

        The same `request_id` never begins a second one.
        """
        import uuid

        from cluster.cli.printing import command_line, row
        from cluster.cli.records import checked

        known = {name: value for name, value in given.items() if value is not None}
        known.setdefault("request_id", uuid.uuid4().hex)
        body = checked(request, known)
        again = f"run it again with --request-id {known['request_id']}: it is the same {self.noun} then"
        with self.work(client, decides=True) as work:
            number, line = told(work.post(expected, path, body, unsure=again))
            row(console(), self.noun, line)
            if follow:
                self.follow(client, work, number)
            command_line(console(), "follow it", work.command("follow", number))

    def follow(self, client: Client, work: "Work", number: int) -> None:
        """Exits with what following it ends with."""
        followed(client, self.loaded(), work, number)

    @contextmanager
    def deciding(self, client: Client, number: int) -> "Iterator[Deciding]":
        """A gate of one, decided on by who calls."""
        from cluster.cli.asking import asker
        from cluster.cli.gated.deciding import Deciding

        ask = asker(may_ask=client.may_ask)
        with self.work(client, decides=True) as work:
            yield Deciding(self.loaded(), work, number, console(), ask)


def followed(client: Client, kind: "TerminalKind[Any]", work: "Work", number: object) -> NoReturn:
    """Exits with what following it ends with."""
    from cluster.cli.asking import asker
    from cluster.cli.chat import INTERRUPTED
    from cluster.cli.gated.deciding import Deciding
    from cluster.cli.gated.following import Following
    from cluster.cli.printing import command_line, row

    shown, ask = console(), asker(may_ask=client.may_ask)
    settle = None if ask is None else Deciding(kind, work, number, shown, ask).settle
    try:
        code = Following(kind, work, number, shown, settle=settle).run()
    except KeyboardInterrupt:
        row(shown, "", "what you did not confirm is not decided")
        command_line(shown, "follow it", work.command("follow", number))
        code = INTERRUPTED
    raise typer.Exit(code)


def number_of(room: Room) -> Any:
    """The argument that names one."""
    return typer.Argument(metavar="ID", min=1, help=f"The {room.noun}: `signoff {room.name} list`.")


def gated_app(room: Room, about: str) -> typer.Typer:
    """`signoff NAME`, with the commands that are the same for every kind."""
    app = typer.Typer(name=room.name, help=about, no_args_is_help=True, pretty_exceptions_enable=False)
    named = number_of(room)

    @app.command(help=_FOLLOW.format(result=room.result))
    @by_a_person(ANALYST)
    def follow(client: Client, number: Annotated[int, named]) -> None:
        with room.work(client, decides=True) as work:
            room.follow(client, work, number)

    @app.command()
    @by_a_person(ANALYST)
    def show(client: Client, number: Annotated[int, named], as_json: AsJson = False) -> None:
        """Show where one stands, and all of what waits for a decision."""
        kind = room.loaded()
        found = room.present(client, kind.record, kind.show_status, f"/{number}", as_json=as_json)
        if found is not None and found.approval is not None:
            kind.show_gate(found.approval, console())

    @app.command(room.stop, help=room.stop_help)
    @by_a_person(ANALYST)
    def stop(
        client: Client,
        number: Annotated[int, named],
        reason: Annotated[str | None, typer.Option(help=f"Why; it is kept with the {room.noun}.")] = None,
    ) -> None:
        from cluster.cli.gated.work import StandsNow
        from cluster.cli.printing import row

        with room.work(client) as work:
            body = {} if reason is None else {"reason": reason}
            unsure = f"whether it was done, `{work.command('show', number)}` says"
            done = work.post(StandsNow, f"/{number}/{room.stop}", body, unsure=unsure)
        row(
            console(),
            room.noun,
            f"{number}: {done.message}" if done.message else f"{number} is {done.status}",
        )

    return app
