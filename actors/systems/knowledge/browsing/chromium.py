"""A Chromium that knows no way out but the proxy, and the processes that it is made of.

`Browser` begins and ends it. It is spoken to through a pipe, so that nobody else on the machine can, and so
that it ends when we do. What hangs is killed with all of its processes.
"""

import asyncio
import logging
import os
import secrets
import shutil
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import psutil
from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright

from actors.systems.knowledge.browsing.sandbox import MARK, denied, program_of, runs_as, told
from models.errors import BrowserUnavailable

_log = logging.getLogger("signoff.browser")

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_START_SECONDS = 30.0
_END_SECONDS = 3.0
_MB = 1024**2

_ARGUMENTS = (
    # What the proxy does not resolve is not resolved: a belt, for all requests go there anyhow.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-crash-reporter",
    "--disable-notifications",
    "--disable-translate",
    "--disable-remote-fonts",
    "--disable-gpu",
    # Workers that outlive their page or serve several; scripts of service workers, the proxy refuses.
    "--disable-blink-features=SharedWorker",
    "--deny-permission-prompts",
    "--autoplay-policy=user-gesture-required",
    # The others are Playwright's, which would be lost: the last of these switches counts alone.
    "--blink-settings=imagesEnabled=false,primaryHoverType=2,availableHoverTypes=2,"
    "primaryPointerType=4,availablePointerTypes=4",
)
# Pages may open no windows by themselves.
_LEFT_OUT = ("--disable-popup-blocking",)


def executable_of(setting: str, playwright: Playwright) -> str:
    """The Chromium to start: as configured; or for `auto` the node's, or Playwright's own.

    Raises:
        BrowserUnavailable: there is none; the message says the command that installs one.
    """
    if setting != "auto":
        if os.access(setting, os.X_OK):
            return setting
        raise BrowserUnavailable(
            f"knowledge.scraping.browser.executable: {setting} is no program here: write auto, or a path"
        )
    own = playwright.chromium.executable_path
    for found in (*map(shutil.which, _NAMES), own if Path(own).exists() else None):
        if found is not None:
            return found
    raise BrowserUnavailable(
        "no Chromium on this node: run `apt-get install chromium` as root, or `playwright install chromium`"
    )


class Chromium:
    """One Chromium, and the driver (a node process of Playwright's) that starts it and speaks to it.

    `gone` is done once it has ended, whoever ended it. `sandboxed` says whether with its own sandbox.
    """

    def __init__(
        self, playwright: Playwright, playing: PlaywrightBrowser, root: psutil.Process, *, sandboxed: bool
    ) -> None:
        self.playing = playing
        self.sandboxed = sandboxed
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._playwright = playwright
        self._root = root
        self._driver = root.parent()
        given = [one.partition("=")[2] for one in root.cmdline() if one.startswith("--user-data-dir=")]
        self._profile = given[0] if given else None
        playing.on("disconnected", lambda _: self._ended())

    @classmethod
    async def begin(
        cls, executable: str, *, proxy: str, key_digest: str, heap_mb: int, arguments: Sequence[str] = ()
    ) -> Self:
        """Start one, headless.

        Args:
            executable: a path, or `auto`.
            proxy: the URL of its only way out.
            key_digest: of the key that the proxy ends TLS with (SHA-256, base64): it alone is believed.
            heap_mb: of JavaScript's memory in each of its pages.
            arguments: more of Chromium's own.

        Raises:
            BrowserUnavailable: it does not start, or there is none.
        """
        mark = f"{MARK}{secrets.token_hex(8)}"
        given = [
            *_ARGUMENTS,
            f"--ignore-certificate-errors-spki-list={key_digest}",
            f"--js-flags=--max-old-space-size={heap_mb}",
            *arguments,
            mark,
        ]
        playwright = await async_playwright().start()
        try:
            with program_of(executable_of(executable, playwright)) as program:
                try:
                    playing, sandboxed = await _launch(playwright, program, given, proxy, sandbox=True), True
                except PlaywrightError as error:
                    if not denied(error):
                        raise
                    playing, sandboxed = (
                        await _launch(playwright, program, given, proxy, sandbox=False),
                        False,
                    )
            begun = cls(playwright, playing, await asyncio.to_thread(_root_of, mark), sandboxed=sandboxed)
        except PlaywrightError as error:
            await playwright.stop()
            raise BrowserUnavailable(f"Chromium does not start: {str(error)[:500]}") from error
        except BaseException:
            await playwright.stop()
            raise
        how = told(runs_as(), sandboxed=sandboxed)
        if sandboxed:
            _log.info("%s (%s)", how, playing.version)
        else:
            lacks = "user namespaces, or the setuid helper of the package chromium-sandbox"
            _log.warning("%s (%s): the kernel lets it have none here: %s", how, playing.version, lacks)
        return begun

    def processes(self) -> list[psutil.Process]:
        """Those there are, the driver first."""
        driver = self._driver or self._root
        with suppress(psutil.NoSuchProcess):
            return [driver, *driver.children(recursive=True)]
        return []

    def memory_mb(self) -> float:
        """What its processes take together, what they share counted once. Takes some milliseconds."""
        return sum(map(_memory, self.processes())) / _MB

    def end_largest_page(self) -> None:
        """Kill the renderer that takes most: its page crashes, and the others go on."""
        renderers = [process for process in self.processes() if _is_renderer(process)]
        if renderers:
            with suppress(psutil.NoSuchProcess):
                max(renderers, key=_memory).kill()

    def kill(self) -> None:
        """End all of its processes at once, and have `gone` say so."""
        processes = self.processes()[1:]
        with suppress(ProcessLookupError, PermissionError):
            if os.getpgid(self._root.pid) == self._root.pid and self._root.is_running():
                os.killpg(self._root.pid, signal.SIGKILL)
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._ended()

    async def end(self) -> None:
        """Close it and its driver; kill what does not close within seconds."""
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self.playing.close()
        except (TimeoutError, PlaywrightError) as error:
            _log.warning("Chromium did not close, and is killed: %r", error)
        self.kill()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._playwright.stop()
        except (TimeoutError, PlaywrightError) as error:
            _log.warning("Chromium's driver did not end, and is killed: %r", error)
            if self._driver is not None:
                with suppress(psutil.NoSuchProcess):
                    self._driver.kill()
        if self._profile is not None:
            # The driver removes it while Chromium's last processes may still write there, and does so once.
            await asyncio.to_thread(shutil.rmtree, self._profile, ignore_errors=True)

    def _ended(self) -> None:
        if not self.gone.done():
            self.gone.set_result(None)


async def _launch(
    playwright: Playwright, program: str, given: Sequence[str], proxy: str, *, sandbox: bool
) -> PlaywrightBrowser:
    return await playwright.chromium.launch(
        executable_path=program,
        args=given,
        ignore_default_args=list(_LEFT_OUT),
        chromium_sandbox=sandbox,
        # Loopback, too, is for the proxy to judge.
        proxy={"server": proxy, "bypass": "<-loopback>"},
        timeout=_START_SECONDS * 1000,
    )


def _root_of(mark: str) -> psutil.Process:
    """The first process of the Chromium that was started with a mark."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if mark in (given := process.cmdline()) and not any(one.startswith("--type=") for one in given):
                return process
    raise BrowserUnavailable("Chromium ended as soon as it was started")


def _is_renderer(process: psutil.Process) -> bool:
    try:
        return "--type=renderer" in process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied):
        return False


def _memory(process: psutil.Process) -> int:
    """Bytes of a process, of shared ones its part; or without them, where the sandbox keeps them from us."""
    try:
        # psutil reads `smaps` whole, which takes five times as long.
        rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="ascii")
    except PermissionError:
        with suppress(psutil.NoSuchProcess):
            simple = process.memory_info()
            return int(simple.rss - simple.shared)
        return 0
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it ended meanwhile, and takes nothing
    lines = (line.split() for line in rollup.splitlines())
    return next((int(words[1]) * 1024 for words in lines if words[0] == "Pss:"), 0)
