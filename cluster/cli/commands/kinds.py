"""`signoff kinds` and `signoff kind`: all gated work that a site declares, without commands of its own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cluster.cli.commands.gated import AsJson, followed
from cluster.cli.commands.options import ANALYST, Client, Digest, by_a_person, console

if TYPE_CHECKING:
    from cluster.cli.door import Door
    from cluster.cli.gated.any_kind import DeclaredKind


@by_a_person(ANALYST)
def kinds(client: Client, as_json: AsJson = False) -> None:
    """List the kinds of work that stop for a person here, and what can be asked of each."""
    from cluster.cli.gated.any_kind import declared
    from cluster.cli.printing import command_line, print_json, put, row
    from cluster.cli.typed import typed

    with client.door() as door:
        found = declared(door).kinds
    if as_json:
        print_json([kind.model_dump(mode="json") for kind in found])
        return
    for kind in found:
        row(console(), "kind", f"{kind.name}: {kind.title}", style="bold")
        put(console(), "asks", "\n".join(f"{one.name}: {one.title}" for one in kind.actions) or "nothing")
        put(console(), "decided on", "\n".join(gate.title for gate in kind.gates) or "nothing")
    command_line(console(), "of one", typed(["kind", "NAME"], client.options))


@by_a_person(ANALYST)
def kind(
    client: Client,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The kind: `signoff kinds`.")],
    action: Annotated[
        str, typer.Argument(metavar="[ACTION]", help="What `signoff kinds` lists; follow; decide.")
    ] = "",
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="[N] [NAME=VALUE ...]", help="Its number, and what the action takes."),
    ] = None,
    digest: Digest = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Where a file is written.")] = None,
    force: Annotated[bool, typer.Option("--force", help="In place of a file that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask something of a kind that has no command of its own; alone: what can be asked.

    `decide N NAME=VALUE ...` shows what waits, whole, and sends that answer to exactly this.
    """
    from cluster.cli.asking import asker
    from cluster.cli.gated.any_kind import any_kind, declared
    from cluster.cli.gated.deciding import Deciding
    from cluster.cli.gated.kind import Wish
    from cluster.cli.gated.work import Work
    from models.errors import InputInvalid

    with client.door(decides=action in ("follow", "decide", "start")) as door:
        told = declared(door).kind(name)
        number, pairs = _split(given or [])
        if action not in ("follow", "decide"):
            _ask(door, told, action, number, pairs, as_json=as_json, output=output, force=force)
            return
        if number is None:
            raise InputInvalid(f"which one? write {action} N, as its `list` shows them")
        shown, declaration = console(), any_kind(told)
        work = Work(door, f"kind {name}", told.word, "", client.options)
        if action == "follow":
            followed(client, declaration, work, number)
        deciding = Deciding(declaration, work, number, shown, asker(may_ask=client.may_ask))

        def reply(at: Any) -> tuple[Any, str]:
            wish = Wish("answer", given=pairs)
            made = at.reply(wish, None)
            at.explain(made, shown)
            return made, at.question(wish, changed=False)

        if not deciding.decide(reply, digest=digest):
            raise typer.Exit(1)


def _split(given: list[str]) -> tuple[str | None, list[str]]:
    """The number that comes first, where one does, and the rest."""
    return (given[0], given[1:]) if given and "=" not in given[0] else (None, given)


def _ask(
    door: "Door",
    told: "DeclaredKind",
    name: str,
    number: str | None,
    pairs: list[str],
    *,
    as_json: bool,
    output: Path | None,
    force: bool,
) -> None:
    from cluster.cli.approval_view import as_yaml
    from cluster.cli.gated.any_kind import AnyStanding, any_kind, place
    from cluster.cli.gated.schemas import fields_of, values_given
    from cluster.cli.printing import print_json, put, row
    from cluster.cli.saving import check_free, save

    if not name:
        for one in told.actions:
            fields = ", ".join(fields_of(one.input)) or "nothing"
            row(console(), one.name[:11], f"{one.title}: takes {fields}")
        return
    action = told.action("get" if name == "show" else name)
    values = values_given(pairs, action.input)
    if number is not None:
        values |= values_given([f"{told.number}={number}"], action.input)
    path = place(action, values)
    if output is not None:
        check_free(output, replace=force)
        content = door.file(path, media_type="", params=values)
        save(output, content, replace=force)
        row(console(), "written", f"{output}, {len(content)} bytes")
        return
    sent: dict[str, Any] = {"params": values} if action.method == "GET" else {"json": values}
    unsure = f"whether it was done, `signoff kind {told.name} list` says"
    found: Any = door.ask(object, action.method, path, unsure=unsure, **sent)
    if as_json:
        print_json(found)
    elif isinstance(found, dict) and (gate := AnyStanding(found).approval) is not None:
        any_kind(told).show_status(AnyStanding(found), console())
        any_kind(told).show_gate(gate, console())
    else:
        put(console(), told.word[:11], as_yaml(found))
