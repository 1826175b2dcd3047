"""From addresses to answers on the real stack: pages are scraped, indexed and read by jobs; one is killed."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow.parquet
import pytest

from tests.e2e.chat_story import Chat
from tests.e2e.cluster import Cluster
from tests.e2e.story import People, Refused, Rest
from tests.fakes.outside.page_site import Answer, PageSite, article, serving
from tests.fakes.outside.pdfs import Sheet, make_pdf

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

PROJECT = "Herons"
IN_PROJECT = ("--project", PROJECT, "--topic", "macro")
# The delay between two requests to a host, of configs/base.yaml; and what a busy machine takes of it at most.
DELAY, LATE = 1.0, 0.15
SUBJECTS = ("ferry", "granary", "kiln", "clock", "orchard", "quarry", "lighthouse")
HERONS = (
    "The grey heron of Orra nests above the old mill pond and feeds at dawn. In 2019 the wardens counted 41 "
    "pairs of herons, twice as many as in 2009."
)
SHELL = """<html><head><title>Herons</title></head><body><div id="root"></div>
<noscript>Please enable JavaScript.</noscript><script>
fetch("/herons.json").then(r => r.json()).then(d => { document.getElementById("root").innerHTML =
  "<main><article><h1>The herons of Orra</h1><p>" + d.text + "</p></article></main>"; });
</script></body></html>"""
TIDES = "The spring tide of the Vell estuary rises 6.4 metres, and the neap tide 2.9 metres."


def about(subject: str) -> str:
    """A page's text."""
    return f"The {subject} of Dunnow was built in 1871. {subject.capitalize()} keepers live beside it. " * 6


@pytest.fixture(scope="module")
def site() -> Iterator[PageSite]:
    """Articles, one that scripts make, a PDF, and what robots.txt closes."""
    pages = {f"/{subject}": article(f"The {subject}", about(subject)) for subject in SUBJECTS}
    more = {
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /closed/\n", headers={"content-type": "text/plain"}),
        "/herons": Answer(SHELL.encode()),
        "/herons.json": Answer(
            f'{{"text": "{HERONS}"}}'.encode(), headers={"content-type": "application/json"}
        ),
        "/tides.pdf": Answer(make_pdf(Sheet([TIDES])), headers={"content-type": "application/pdf"}),
        "/closed/1": article("Closed", about("safe")),
    }
    with serving(pages | more) as running:
        yield running


def run(cluster: Cluster, pipeline: str, *arguments: str) -> str:
    """What a job has said, which ended well. As in the README, it asks the site for its configuration."""
    job = cluster.signoff("submit", "--config", str(cluster.config), pipeline, *IN_PROJECT, *arguments)
    assert job.returncode == 0, job.stdout[-4000:] + job.stderr[-2000:]
    return job.stdout


def summary(said: str) -> list[dict[str, Any]]:
    """The rows of the Parquet file that a batch names."""
    [path] = re.findall(r"^summary: (.+\.parquet)$", said, re.MULTILINE)
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    return rows


@dataclass(frozen=True)
class Scraped:
    """The rows that a batch left, by path, and how many requests the one before it had sent when it died."""

    rows: dict[str, dict[str, Any]]
    before: int


@pytest.fixture(scope="module")
def scraped(cluster: Cluster, site: PageSite) -> Scraped:
    """All pages, and an address where there is nothing, by a batch that was killed and submitted again."""
    paths = [*SUBJECTS, "herons", "tides.pdf", "closed/1", "none"]
    urls = cluster.folder / "urls.csv"
    urls.write_text("url\n" + "".join(f"{site.origin}/{path}\n" for path in paths))
    with cluster.job("scrape_urls", *IN_PROJECT, "--urls", str(urls)) as job:
        deadline = time.monotonic() + 120
        while len(site.hits) < 5:
            assert job.poll() is None, job.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.1)  # the site's log is looked at
        cluster.driver("scrape_urls").kill()
        job.communicate(timeout=60)
    assert job.returncode != 0
    before = len(site.hits)
    rows = summary(run(cluster, "scrape_urls", "--urls", str(urls)))
    return Scraped(rows={row["url"].removeprefix(site.origin): row for row in rows}, before=before)


def test_a_killed_batch_fetches_nothing_twice_and_hurries_nobody(site: PageSite, scraped: Scraped) -> None:
    asked = Counter(hit.path for hit in site.hits)
    # The page that was on its way when the batch died is asked for again; the shell, by the browser, too.
    twice = {path for path, times in asked.items() if times > 1} - {"/herons"}
    assert len(twice) <= 1
    assert twice <= {hit.path for hit in site.hits[scraped.before - 2 : scraped.before]}, asked
    assert asked["/robots.txt"] == 1
    assert asked["/closed/1"] == 0
    turns = [hit.at for hit in site.hits if hit.path != "/herons.json"]
    assert min(later - earlier for earlier, later in pairwise(turns)) >= DELAY - LATE


def test_every_address_has_its_row(scraped: Scraped) -> None:
    rows = scraped.rows
    assert {path: row["fault"] for path, row in rows.items() if row["fault"]} == {
        "/closed/1": "refused_by_robots",
        "/none": "not_found",
    }
    assert rows["/herons"]["engine"] == "browser"
    assert "41 pairs" in rows["/herons"]["text"]
    assert TIDES in " ".join(rows["/tides.pdf"]["text"].split())
    assert any(row["held"] for row in rows.values())


async def test_the_pages_answer_questions(cluster: Cluster, site: PageSite, scraped: Scraped) -> None:
    await asyncio.to_thread(run, cluster, "index_knowledge_base")
    read = summary(await asyncio.to_thread(run, cluster, "extract_knowledge", "--limit", "2"))
    assert len(read) == 2

    people = People(cluster)
    rest = Rest(people)
    listed = await rest.call("ann", "list_projects")
    [project] = [each["id"] for each in listed["projects"] if each["name"] == PROJECT]
    question = "How many pairs of herons were counted at Orra?"
    found = await rest.call("ann", "query_knowledge_base", project_id=project, query=question)
    first = found["results"][0]
    assert first["url"] == f"{site.origin}/herons"
    assert "41 pairs of herons" in first["text"]
    source = await rest.call("ann", "get_source", project_id=project, source_id=first["source_id"])
    assert source["source"]["text"][first["start"] : first["end"]] == first["text"]
    with pytest.raises(Refused, match="403: query_knowledge_base takes the scope"):
        await rest.call("rita", "query_knowledge_base", project_id=project, query=question)

    answer = await Chat(people).ask("ann", f"What does the knowledge base {PROJECT} say: {question}")
    assert "41 pairs" in answer["response"], answer
    assert f"{site.origin}/herons" in str(answer), answer
