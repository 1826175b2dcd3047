"""Readers in processes of their own: hostile pages, cancelled callers, killed parents, recycling."""

import asyncio
import os
import signal
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from actors.systems.knowledge.parsing.reading_pool import ReadingPool
from models.errors import ClusterProblem, DocumentUnreadable
from models.knowledge.pages import PASSING, PageText

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[3]
URL = "https://example.org/"
GOOD = (
    b"<html><body><article><p>" + b"The bread was good, and so was the butter on it. " * 8 + b"</p></article>"
)
_LAUGHS = b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(10))
HOSTILE = {
    "nested blocks": b"<html><body>" + b"<div>" * 100_000 + b"deep",
    "nested inline": b"<html><body>" + b"<b>" * 100_000 + b"deep",
    "nested tables": b"<table><tr><td>" * 50_000,
    "5 MB of divs": b"<html><body>" + b"<div>" * 1_000_000,
    "a huge attribute": b'<html><body><p class="' + b"a " * 2_500_000 + b'">hello</p>',
    "a gigantic table": b"<html><body><table>" + b"<tr><td>a</td><td>b</td><td>c</td></tr>" * 130_000,
    "entities": b'<!DOCTYPE html [<!ENTITY a "lol">' + _LAUGHS + b"]><html><body><p>&k;</p></body></html>",
    "NULs": b"<html><body>" + b"\0" * 5_000_000 + b"<p>te\0xt</p>",
    "invalid UTF-8": b"<html><meta charset=utf-8><body><p>" + bytes(range(128, 256)) * 8_000,
    "5 MB of script": b"<html><body><p>hello</p><script>" + b"var x=1;" * 650_000 + b"</script>",
    "nested JSON-LD": b'<html><body><script type="application/ld+json">' + b"[" * 500_000 + b"</script>",
    "unclosed items": b"<html><body><ul>" + b"<li>x" * 300_000,
    "angle brackets": b"<html><body>" + b"<" * 2_000_000,
    "no HTML": bytes(range(256)) * 4_000,
}
SECONDS = 4.0


def sleeping(seconds: float, marker: str = os.devnull) -> PageText:
    """Work that holds its reader; the marker says that it has begun."""
    Path(marker).touch()
    time.sleep(seconds)
    return page("slept")


def page(text: str) -> PageText:
    return PageText(text=text, title=None, author=None, date=None, language=None, links=())


def who() -> PageText:
    return page(str(os.getpid()))


def greedy(megabytes: int) -> PageText:
    return page(str(len(bytearray(megabytes * 1024**2))))


def dying() -> PageText:
    os.kill(os.getpid(), signal.SIGSEGV)
    return page("")


def printing() -> PageText:
    print("among the answers", flush=True)  # noqa: T201
    return page("printed")


class _Faulty(Exception):
    fault = "unsupported_type"


def failing() -> PageText:
    raise _Faulty("an image")


@pytest.fixture
async def pool() -> AsyncIterator[ReadingPool]:
    running = ReadingPool(readers=1, seconds=SECONDS)
    yield running
    await running.close()
    await until(lambda: not readers())


def readers() -> list[int]:
    """The readers that this process has started and that still run."""
    found = psutil.Process().children()
    return [one.pid for one in found if one.status() != psutil.STATUS_ZOMBIE and _is_reader(one)]


def _is_reader(process: psutil.Process) -> bool:
    try:
        return any("reading_process" in part for part in process.cmdline())
    except psutil.NoSuchProcess:
        return False


async def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110  # what is waited for is in other processes
            await asyncio.sleep(0.02)


async def test_a_page_is_read(pool: ReadingPool) -> None:
    found = await pool.read_html(GOOD, URL, "text/html")
    assert found.text.startswith("The bread was good")
    assert found.language == "en"


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_page_takes_its_seconds_at_most_and_the_next_is_read(
    pool: ReadingPool, name: str
) -> None:
    await pool.read_html(GOOD, URL, None)
    begun = asyncio.get_running_loop().time()
    try:
        await pool.read_html(HOSTILE[name], URL, "text/html")
    except DocumentUnreadable as error:
        assert str(error)  # noqa: PT017  # it may be read as well
    assert asyncio.get_running_loop().time() - begun < SECONDS + 2
    assert (await pool.read_html(GOOD, URL, None)).text.startswith("The bread")


async def test_a_page_that_takes_too_long_ends_its_reader() -> None:
    quick = ReadingPool(readers=1, seconds=3.0)
    first = await quick.read(who, shape=PageText)
    with pytest.raises(DocumentUnreadable, match=r"can't be read within 3 s") as told:
        await quick.read(sleeping, 30, shape=PageText)
    # It passes: on a machine that is less busy the page may be read.
    assert told.value.facts["fault"] in PASSING
    second = await quick.read(who, shape=PageText)
    assert first.text != second.text
    await until(lambda: readers() == [int(second.text)])
    await quick.close()


async def test_a_cancelled_caller_leaves_no_reader_at_work(pool: ReadingPool, tmp_path: Path) -> None:
    marker = tmp_path / "begun"
    task = asyncio.create_task(pool.read(sleeping, 30, str(marker), shape=PageText))
    await until(marker.exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not readers())
    # And the answer to what was given up is not taken for the next page's.
    assert (await pool.read_html(GOOD, URL, None)).text.startswith("The bread")


async def test_a_reader_that_dies_or_takes_too_much_memory_is_one_page_s_fault(pool: ReadingPool) -> None:
    with pytest.raises(DocumentUnreadable, match="ended under it"):
        await pool.read(dying, shape=PageText)
    with pytest.raises(DocumentUnreadable, match="more memory than a page may"):
        await pool.read(greedy, 4000, shape=PageText)
    assert (await pool.read(greedy, 10, shape=PageText)).text


async def test_what_went_wrong_is_told_with_its_fault(pool: ReadingPool) -> None:
    with pytest.raises(DocumentUnreadable, match=r"^an image$") as caught:
        await pool.read(failing, shape=PageText)
    assert caught.value.facts == {"fault": "unsupported_type"}


async def test_what_is_printed_does_not_get_among_the_answers(pool: ReadingPool) -> None:
    assert (await pool.read(printing, shape=PageText)).text == "printed"


async def test_readers_are_begun_anew_after_their_pages() -> None:
    pool = ReadingPool(readers=1, seconds=SECONDS, max_pages_per_reader=2)
    pids = [(await pool.read(who, shape=PageText)).text for _ in range(5)]
    assert [pids[0] == pids[1], pids[1] == pids[2], pids[2] == pids[3], pids[3] == pids[4]] == [
        *(True, False, True, False)
    ]
    await pool.close()
    await until(lambda: not readers())


async def test_as_many_as_are_allowed_read_side_by_side() -> None:
    pool = ReadingPool(readers=2, seconds=SECONDS)
    await asyncio.gather(*(pool.read(sleeping, 0.5, shape=PageText) for _ in range(5)))
    assert len(readers()) == 2
    await pool.close()
    with pytest.raises(ClusterProblem, match="closed"):
        await pool.read(who, shape=PageText)
    await until(lambda: not readers())


async def test_close_ends_a_page_under_way(tmp_path: Path) -> None:
    pool = ReadingPool(readers=1, seconds=60)
    marker = tmp_path / "begun"
    task = asyncio.create_task(pool.read(sleeping, 30, str(marker), shape=PageText))
    await until(marker.exists)
    await pool.close()
    with pytest.raises(DocumentUnreadable):
        await task
    await until(lambda: not readers())


# A main module that must not be run again, and whose process is killed without a word.
_SCRIPT = """
    import asyncio, sys
    print("main is run", flush=True)
    from actors.systems.knowledge.parsing.reading_pool import ReadingPool
    from tests.unit.knowledge.test_reading_pool import GOOD, PageText, sleeping, who

    async def main():
        pool = ReadingPool(readers=1, seconds=2)
        print("reader", (await pool.read(who, shape=PageText)).text, flush=True)
        print((await pool.read_html(GOOD, "https://example.org/", None)).text[:9], flush=True)
        if sys.argv[1] == "busy":
            await pool.read(sleeping, 60, sys.argv[2], shape=PageText)
        await asyncio.Event().wait()

    asyncio.run(main())
"""


@pytest.mark.parametrize("state", ["idle", "busy"])
async def test_readers_end_with_a_parent_that_is_killed(tmp_path: Path, state: str) -> None:
    script = tmp_path / "main.py"
    script.write_text(textwrap.dedent(_SCRIPT), encoding="utf-8")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    marker = tmp_path / "begun"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(script), state, str(marker)),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.stdout is not None
    said = [(await process.stdout.readline()).decode().strip() for _ in range(3)]
    assert (said[0], said[2]) == ("main is run", "The bread")
    reader = psutil.Process(int(said[1].split()[1]))
    if state == "busy":
        await until(marker.exists)
    process.kill()
    await process.wait()
    # A busy one by its alarm: its page's seconds and five more.
    await until(lambda: not reader.is_running() or reader.status() == psutil.STATUS_ZOMBIE, seconds=30)
