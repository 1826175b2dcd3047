"""The URL guard: what it refuses as written, what it refuses as resolved, and where it connects to."""

import ipaddress
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.platform.web.resolver import SystemResolver
from actors.platform.web.url_guard import check_url, guarded_client
from models.addresses import is_public
from models.config import OutgoingConfig
from models.errors import AddressRefused
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver
from tests.unit.outside.certificates import certificate

NOWHERE = OutgoingConfig(allow_internal=())
LOOPBACK = OutgoingConfig(allow_internal=("127.0.0.1/32",))

INTERNAL = [
    *("127.0.0.1", "127.8.8.8", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "0.0.0.0"),
    *("169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192", "198.18.0.1", "192.0.2.1"),
    *("224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "2001:db8::1", "100::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1"),
    *("2002:7f00:1::", "2002:808:808::", "2001:0:7f00:1::1", "3fff::1", "5f00::1", "4000::1"),
]
PUBLIC = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2001:4860:4860::8888"]
PUBLIC += ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]


@pytest.mark.parametrize("address", INTERNAL)
def test_an_internal_address_is_refused_as_written_and_as_resolved(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(AddressRefused, match=r"^url: .*outgoing\.allow_internal"):
        check_url(f"http://{host}/hook", ())


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_allowed(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))
    check_url(f"https://{f'[{address}]' if ':' in address else address}:8443/hook?a=b", ())


@pytest.mark.parametrize(
    "url",
    [
        "http://127.1/",
        "http://127.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://0X7F.1/",
        "http://0177.0.0.1/",
        "http://127.0.0.01/",
        "http://127.0.0.1./",
        "http://127.0.0.1.\t/",
        "http://127.1./",
        "http://1.0x/",
        "http://0/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[0:0:0:0:0:ffff:127.0.0.1]/",
        "http://[::1%25lo]/",
        "http://[fe80::1%eth0]/",
        "http://[2606:4700::%31]/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://١٢٧.0.0.1/",
        "http://localhost/",
        "http://LOCALHOST:80/",
        "http://localhost./",
        "http://a.localhost/",
        "http://loc%61lhost/",
        "http://127%2e0%2e0%2e1/",
        "http://hooks..example.com/",
        "http://.example.com/",
        "http://-/",
        "http://a_b-.com/",
        "http:///hook",
        "http:/hook",
        "http:hook",
        "//example.com/",
        "example.com",
        "",
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "gopher://127.0.0.1:25/",
        "unix:///run/docker.sock",
        "http+unix://run/",
        "http://ann:secret@example.com/",
        "http://ann@example.com/",
        "http://example.com\\@127.0.0.1/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:http/",
        "http://example.com:8_1/",
        "http://[2606:4700::1111]:8_1/",
        "http://1.2.3.08./",
        "http://09.8.8.8./",
        "http://example.com/\r\nX: y",
        "http://example.com/a b",
        " http://example.com/",
        "http://exämple.com/",
        "http://" + "a" * 64 + ".com/",
        "http://" + "a." * 130 + "com/",
        "http://example.com/" + "a" * 2000,
        "http://example.com../",
        "http://./",
        "http://../",
        "http://2130706433./",
    ],
)
def test_an_odd_url_is_refused_with_its_reason(url: str) -> None:
    with pytest.raises(AddressRefused, match=r"^url: ") as caught:
        check_url(url, ())
    assert caught.value.http_status == 422


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com",
        "HTTPS://Example.COM:443/a%20b?c=d&e=@#f",
        "https://hooks.example.com/x@y",
        "http://intranet/hook",
        "http://a-b_c.example/",
        "http://xn--exmple-cua.com/",
        "http://1e100.net/",
        "http://0xa.example/",
        "https://example.com./hook",
        "https://example.com.:8443/hook",
        "http://example.com:00080/",
        "http://example.com:/",
        "http://example.com/a:8_1@b",
        "http://[2606:4700::1111]/?a=:8_1",
    ],
)
def test_a_plain_url_is_allowed(url: str) -> None:
    check_url(url, ())


def test_what_the_configuration_allows() -> None:
    listed = ["10.1.0.0/16", "fd00::/8", "192.168.7.7", "Hooks.Internal", "localhost"]
    for host in ("10.1.2.3", "[fd00::7]", "[::ffff:10.1.2.3]", "192.168.7.7", "HOOKS.internal", "LocalHost"):
        check_url(f"http://{host}/", listed)
    for host in ("10.2.0.1", "[fc00::1]", "192.168.7.8", "127.0.0.1", "a.localhost"):
        with pytest.raises(AddressRefused):
            check_url(f"http://{host}/", listed)


@given(st.ip_addresses(v=4) | st.integers(0, 2**32 - 1).map(ipaddress.IPv4Address))
@example(ipaddress.IPv4Address("127.0.0.1"))
def test_an_address_is_judged_alike_however_it_is_wrapped(address: ipaddress.IPv4Address) -> None:
    mapped = ipaddress.IPv6Address(f"::ffff:{address}")
    translated = ipaddress.IPv6Address(f"64:ff9b::{address}")
    assert is_public(mapped) == is_public(translated) == is_public(address)
    if address.is_private or address.is_loopback or address.is_multicast or address.is_link_local:
        assert not is_public(address)


@given(st.ip_addresses(v=6))
def test_no_private_ipv6_address_is_public(address: ipaddress.IPv6Address) -> None:
    if not address.is_global or address.is_multicast or address.is_site_local:
        assert not is_public(address) or address in ipaddress.IPv6Network("64:ff9b::/96")


@given(st.ip_addresses(v=4).filter(lambda address: not is_public(address)), st.integers(0, 3), st.booleans())
@example(ipaddress.IPv4Address("127.0.0.1"), 3, True)
def test_no_spelling_of_an_internal_address_is_let_through(
    address: ipaddress.IPv4Address, parts: int, hexadecimal: bool
) -> None:
    """As inet_aton reads it: some leading bytes, then the rest in one number, in whatever base."""
    packed = address.packed
    numbers = [*packed[:parts], int.from_bytes(packed[parts:], "big")]
    for spell in (hex, lambda n: f"0{n:o}", str) if hexadecimal else (str,):
        with pytest.raises(AddressRefused):
            check_url(f"http://{'.'.join(spell(n) for n in numbers)}/", ())


@given(st.text(max_size=60) | st.text(alphabet="0123456789abfx.:[]@/%", max_size=20))
@example("\x00")
@example("8.8")
def test_whatever_passes_is_http_to_a_name_or_a_public_address(text: str) -> None:
    for url in (text, f"http://{text}", f"https://{text}/"):
        try:
            parsed = check_url(url, ())
        except AddressRefused:
            continue
        assert parsed.scheme in ("http", "https")
        assert parsed.host
        assert not parsed.userinfo
        try:
            address = ipaddress.IPv4Address(socket.inet_aton(parsed.host))
        except OSError:
            continue
        assert is_public(address)


class Names:
    """A resolver that answers from a script, the last answer again and again."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    """A target on 127.0.0.1."""
    async with WebhookReceiver() as receiver:
        yield receiver


async def get(outgoing: OutgoingConfig, url: str, names: Names | None = None) -> httpx2.Response:
    """One GET through a guarded client."""
    async with guarded_client(outgoing, timeout=5, resolve=names) as client:
        return await client.get(url)


async def test_loopback_is_reached_only_when_it_is_allowed(receiver: WebhookReceiver) -> None:
    with pytest.raises(AddressRefused):
        await get(NOWHERE, receiver.at("/hook"))
    assert (await get(LOOPBACK, receiver.at("/hook"))).text == "ok"
    assert len(receiver.got) == 1


async def test_every_address_a_name_resolves_to_is_checked(receiver: WebhookReceiver) -> None:
    url = f"http://hooks.example.com:{receiver.port}/hook"
    with pytest.raises(AddressRefused, match=r"hooks\.example\.com leads to an address that is not public"):
        await get(LOOPBACK, url, Names(["127.0.0.1", "10.0.0.7"]))
    for address in ("::ffff:10.0.0.7", "169.254.169.254", "::1", "fe80::1%1"):
        with pytest.raises(AddressRefused):
            await get(LOOPBACK, url, Names([address]))
    assert receiver.got == []
    assert (await get(LOOPBACK, url, Names(["127.0.0.1"]))).status_code == 200
    assert receiver.got[0].headers["host"] == f"hooks.example.com:{receiver.port}"


async def test_an_internal_address_is_told_to_operators_and_not_to_who_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for inside in ("10.0.0.7", "fd00::7"):
        with caplog.at_level("INFO", "signoff.url_guard"), pytest.raises(AddressRefused) as refused:
            await get(NOWHERE, "http://payroll.example.com/", Names([inside]))
        assert inside not in str(refused.value)
        assert "payroll.example.com" in str(refused.value)
        assert f"payroll.example.com leads to {inside}" in caplog.text


async def test_a_name_is_resolved_once_and_that_very_address_is_connected_to(
    receiver: WebhookReceiver,
) -> None:
    # Were the name resolved a second time, for connecting, it would lead to 127.0.0.2, where nobody is.
    names = Names(["127.0.0.1"], ["127.0.0.2"])
    url = f"http://rebinding.example.com:{receiver.port}/hook"
    assert (await get(LOOPBACK, url, names)).status_code == 200
    assert names.asked == ["rebinding.example.com"]
    # And the next request is checked anew: an open connection is not a way around that.
    with pytest.raises(AddressRefused, match="not public"):
        await get(LOOPBACK, url, names)
    async with guarded_client(LOOPBACK, timeout=5, resolve=Names(["127.0.0.1"], ["10.0.0.1"])) as client:
        assert (await client.get(url)).status_code == 200
        with pytest.raises(AddressRefused):
            await client.get(url)


async def test_a_name_that_is_allowed_may_be_anywhere_and_others_may_not(receiver: WebhookReceiver) -> None:
    named = OutgoingConfig(allow_internal=("hooks.internal",))
    names = Names(["127.0.0.1"])
    url = f"http://HOOKS.internal:{receiver.port}/"
    assert (await get(named, url, names)).status_code == 200
    with pytest.raises(AddressRefused):
        await get(named, f"http://other.internal:{receiver.port}/", names)


async def test_the_next_address_is_tried_when_one_does_not_answer(receiver: WebhookReceiver) -> None:
    # Nobody listens at 127.0.0.2.
    wide = OutgoingConfig(allow_internal=("127.0.0.0/8",))
    names = Names(["127.0.0.2", "127.0.0.1"])
    assert (await get(wide, f"http://two.example.com:{receiver.port}/", names)).status_code == 200


async def test_redirects_are_not_followed_and_would_be_checked(receiver: WebhookReceiver) -> None:
    receiver.always("/away", Reply(302, {"Location": "http://169.254.169.254/latest/meta-data/"}))
    assert (await get(LOOPBACK, receiver.at("/away"))).status_code == 302
    async with guarded_client(LOOPBACK, timeout=5) as client:
        with pytest.raises(AddressRefused):
            await client.get(receiver.at("/away"), follow_redirects=True)


async def test_the_client_judges_a_url_as_it_is_written_too(receiver: WebhookReceiver) -> None:
    names = Names(["127.0.0.1"])
    for url in (f"http://127.1:{receiver.port}/", f"http://ann:pw@127.0.0.1:{receiver.port}/"):
        with pytest.raises(AddressRefused):
            await get(LOOPBACK, url, names)
    assert (names.asked, receiver.got) == ([], [])


async def test_no_proxy_of_the_environment_is_used(
    receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    assert (await get(LOOPBACK, receiver.at("/"))).status_code == 200


async def test_the_system_resolver_leads_to_the_same_judgement(receiver: WebhookReceiver) -> None:
    assert "127.0.0.1" in await SystemResolver()("localhost")
    with pytest.raises(AddressRefused):
        await get(NOWHERE, f"http://localhost:{receiver.port}/")
    named = OutgoingConfig(allow_internal=("localhost",))
    assert (await get(named, f"http://localhost:{receiver.port}/")).status_code == 200
    with pytest.raises(httpx2.ConnectError, match=r"can't be resolved"):
        await get(NOWHERE, "http://no-such-host.invalid/")


async def test_tls_checks_the_name_though_the_connection_goes_to_an_address(tmp_path: Path) -> None:
    server, trusting = certificate(tmp_path, "hooks.example.com")
    names = Names(["127.0.0.1"])
    async with WebhookReceiver(server) as receiver:
        good, wrong = (f"https://{host}.example.com:{receiver.port}/" for host in ("hooks", "other"))
        async with guarded_client(LOOPBACK, timeout=5, resolve=names, ssl_context=trusting) as client:
            assert (await client.get(good)).status_code == 200
            with pytest.raises(httpx2.ConnectError, match=r"(?i)certificate"):
                await client.get(wrong)
        async with guarded_client(LOOPBACK, timeout=5, resolve=names) as client:
            with pytest.raises(httpx2.ConnectError, match=r"(?i)certificate"):
                await client.get(good)
