"""Domains: the one form of a host's name, which part of it somebody has registered, and what lies under what.

Pure, and asks nobody: the Public Suffix List is the one that comes with the package `tld`. Names are compared
in their xn-- form, in small letters and without the dot of the root.
"""

import ipaddress
from collections.abc import Container

from models.addresses import ends_in_number, is_host_name

_NOT_IN_NAMES = frozenset("/\\:@?#%*[]()\"'<>, \t\r\n")
_SHOWN = 60


def registrable_domain(host: str) -> str:
    """What was registered of a host's name: `bbc.co.uk` of `www.bbc.co.uk`, `me.github.io` of itself.

    A host without a registered part (an address, a name of the site's own network, a public suffix) is
    given whole.
    """
    name = _bare(host)
    found = _registered(name)
    return found if found is not None else name


def domain_form(text: str) -> str:
    """A domain as people write it, in the form that it is compared in.

    Raises:
        ValueError: it is none; the message says what to write.
    """
    import ada_url

    shown, name = text[:_SHOWN], text.strip().lower()
    if not name or _NOT_IN_NAMES.intersection(name):
        raise ValueError(
            f"{shown!r} is no domain: write a name alone, such as example.org, without scheme, port, path, *"
        )
    try:
        plain = _bare(ada_url.URL(f"http://{name}/").hostname)
    except ValueError:
        plain = ""
    # Browsers read `8.1` as an address; whoever means one writes it whole.
    address = _is_address(plain)
    if not plain or (address and plain != _bare(name)) or not (address or _is_name(plain)):
        raise ValueError(f"{shown!r} is no domain: write it like example.org, or as an address, 192.0.2.1")
    return plain


def preferred_form(text: str, *, private: bool) -> str:
    """`domain_form`, of one that somebody can have: no suffix under which anybody registers names.

    Args:
        private: whether a suffix that a company lets to anybody (`github.io`) is refused as well.

    Raises:
        ValueError: it is none, or a public suffix.
    """
    plain = domain_form(text)
    if is_public_suffix(plain, private=private):
        raise ValueError(
            f"{text.strip()[:_SHOWN]!r} is a public suffix, under which anybody has domains: "
            f"name those that you mean, such as example.{plain}"
        )
    return plain


def is_public_suffix(domain: str, *, private: bool) -> bool:
    """Whether a domain in its one form is listed as a suffix: `co.uk`; and with `private`, `github.io`."""
    from tld import get_tld

    found = get_tld(f"http://{_written(domain)}/", fail_silently=True, search_private=private)
    return isinstance(found, str) and found == _written(domain)


def standing_over(host: str, domains: Container[str]) -> str | None:
    """The nearest of some domains that a host is, or lies under; None where it is under none."""
    name = _bare(host)
    if _is_address(name):
        return name if name in domains else None
    while name:
        if name in domains:
            return name
        name = name.partition(".")[2]
    return None


def _bare(host: str) -> str:
    return host.strip().lower().removesuffix(".")


def _is_name(plain: str) -> bool:
    return is_host_name(plain) and not ends_in_number(plain)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _written(domain: str) -> str:
    """In the letters that the list is written in, where a part of it is in its xn-- form."""
    import ada_url

    return str(ada_url.idna_to_unicode(domain)) if "xn--" in domain else domain


def _registered(name: str) -> str | None:
    from tld import get_tld

    if _is_address(name) or not is_host_name(name):
        return None
    suffix = get_tld(f"http://{_written(name)}/", fail_silently=True)
    # As many labels as it has, and one more. What ends in no suffix that is listed (`wiki.internal`) has one
    # label for it (the list's own rule, publicsuffix.org/list).
    labels, size = name.split("."), (suffix.count(".") if isinstance(suffix, str) else 0) + 2
    return ".".join(labels[-size:]) if len(labels) >= size else None
