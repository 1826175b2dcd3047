"""What `outgoing.allow_internal` may list: only what can match an address or a host of a URL."""

import ipaddress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from actors.platform.web.url_guard import check_url
from models.addresses import is_public
from models.config import OutgoingConfig
from models.errors import AddressRefused

WHAT_TO_WRITE = (
    r"write a network \(10\.1\.0\.0/16\), an address \(10\.1\.2\.3\) or a host's name \(hooks\.internal\)"
)


@pytest.mark.parametrize(
    "entry",
    [
        *("hooks.internal:8443", "[fd00::7]:80", "[fd00::7]", "http://hooks.internal", "hooks.internal/path"),
        *("*.corp", "*", ".corp", "hooks..internal", "-hooks.internal", "hooks-.internal", "ann@hooks"),
        *("hooks internal", "hooks,other", "hööks.internal", "a" * 64, "a." * 127 + "a.b", ".", "hooks.."),
        *("10.0.0.300", "10.0.0", "10.0.0.0.1", "010.0.0.1", "127.1", "2130706433", "0x7f.1", "10.0.0.1."),
        *("10.0.0.0/33", "10/8", "10.0.0.0/", "fd00::/129", "fd00:::1", "10.0.0.1-10.0.0.9"),
        *("fe80::1%eth0", "fe80::%eth0/10"),
    ],
)
def test_an_entry_that_could_never_match_is_refused_with_what_to_write(entry: str) -> None:
    with pytest.raises(ValidationError, match=WHAT_TO_WRITE) as refused:
        OutgoingConfig(allow_internal=("10.0.0.0/8", entry))
    assert repr(entry) in str(refused.value)


@pytest.mark.parametrize(("entry", "network"), [("10.0.0.1/8", "10.0.0.0/8"), ("fd00::7/64", "fd00::/64")])
def test_a_network_with_host_bits_is_refused_with_the_network(entry: str, network: str) -> None:
    with pytest.raises(ValidationError, match=f"{entry} has host bits set: write {network}"):
        OutgoingConfig(allow_internal=(entry,))


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("10.1.0.0/16", "http://10.1.2.3/"),
        ("10.0.0.0/255.0.0.0", "http://10.1.2.3/"),
        ("10.1.2.3", "http://10.1.2.3:8443/"),
        ("fd00::/8", "http://[fd00::7]/"),
        ("FD00::7", "http://[fd00::7]/"),
        ("localhost", "http://localhost/"),
        ("Hooks.Internal.", "http://hooks.internal:8443/"),
        ("my_service", "http://my_service/"),
        ("xn--hks-snaa.internal.10a", "http://xn--hks-snaa.internal.10a/"),
    ],
)
def test_an_entry_that_is_taken_matches(entry: str, url: str) -> None:
    check_url(url, OutgoingConfig(allow_internal=(entry,)).allow_internal)


_ENTRIES = st.text(alphabet="0123456789abx.:/*-_%[] ", min_size=1, max_size=14)


@given(_ENTRIES | st.ip_addresses().map(str) | st.from_regex(r"[a-z0-9.-]{1,12}", fullmatch=True))
@example("10.0.0.300")
@example("1.localhost")
def test_whatever_is_taken_lets_some_host_be_reached(entry: str) -> None:
    try:
        listed = OutgoingConfig(allow_internal=(entry,)).allow_internal
    except ValidationError:
        return
    try:
        address = ipaddress.ip_network(listed[0])[0]
        host = f"[{address}]" if address.version == 6 else str(address)
        if is_public(address):
            return
    except ValueError:
        host = listed[0]
    try:
        check_url(f"http://{host}/", listed)
    except AddressRefused as refused:
        raise AssertionError(f"{entry!r} is taken, and {host} refused: {refused}") from refused
