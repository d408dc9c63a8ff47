"""Who may reach the page of ``hcviz serve``: the address, the origins and the password."""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hcviz.core.errors import InvalidParameter

LOOPBACK, EVERY = "127.0.0.1", "0.0.0.0"
#: Ports above 1023 that browsers do not open (https://fetch.spec.whatwg.org/#port-blocking).
REFUSED_PORTS = {
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
    *range(6665, 6670), 6679, 6697, 10080,
}  # fmt: skip
#: Fewest characters of a password.
MIN_PASSWORD = 8
#: Letters and digits of codes that are made up: none looks like another one.
CODE_LETTERS = "abcdefghkmnpqrstuvwxyz23456789"
#: Characters of the code that students type (39 bits), and of the teacher's (78 bits).
CLASS_CODE, TEACHER_CODE = 8, 16
#: Settings of Panel under which OAuth protects nothing.
GUESTS = ("PANEL_OAUTH_OPTIONAL", "PANEL_OAUTH_GUEST_ENDPOINTS")
PASSWORD_HINT = (
    "Write a password into a file and add --password-file FILE, or set HCVIZ_PASSWORD. "
    "docs/security.md also describes OAuth."
)


@dataclass(frozen=True)
class Access:
    """Who may reach the page.

    Attributes
    ----------
    address : where the server listens
    port : its port
    public : True if other machines may open the page
    origins : hosts with ports, as browsers name the page
    password : what a visitor must type; None without a password
    oauth : name of Panel's OAuth provider, or ""
    url : the address to open in a browser
    proxied : True if all requests come through a proxy, whose headers name the visitors
    teacher_code : what the teacher of a class types instead of the password; "" without a class
    class_code : the password, if it was made up for a class; else ""
    """

    address: str
    port: int
    public: bool = False
    origins: tuple[str, ...] = ()
    password: str | None = None
    oauth: str = ""
    url: str = ""
    proxied: bool = False
    teacher_code: str = ""
    class_code: str = ""

    @property
    def announcement(self) -> str:
        """What the terminal says when the server listens."""
        who = f"login with {self.oauth}; " if self.oauth else ""
        if self.password is not None:
            who = "a password is needed; "
        first = f"hcviz: {self.url} ({who}Ctrl-C ends it)"
        if not self.teacher_code:
            return first
        code = f"the class code {self.class_code}" if self.class_code else "the password"
        return (
            f"{first}\n"
            f"Students open {self.url} and type {code}.\n"
            f"You open the same address and type the teacher code {self.teacher_code}, which "
            "students must not see."
        )


def read_access(
    port: int = 5006,
    address: str | None = None,
    public: bool = False,
    password_file: Path | None = None,
    origins: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
    for_class: bool = False,
) -> Access:
    """Return who may reach the page, from the options of ``hcviz serve``.

    Parameters
    ----------
    port, address : where to listen; by default this machine only, or everywhere if ``public``
    public : whether other machines may open the page
    password_file : a file whose first line is the password
    origins : other names under which browsers open the page, ``HOST`` or ``HOST:PORT``
    environment : has ``HCVIZ_PASSWORD`` and Panel's settings of OAuth
    for_class : whether students open the page, with a password or a code that is made up here. The
        page is then public.

    Raises
    ------
    InvalidParameter
        If other machines could reach the page without ``--public``, or a public page has neither a
        password nor OAuth.
    """
    if not 1 <= port <= 65535:
        raise InvalidParameter(f"There is no port {port}.", "Ports are numbered 1 to 65535.")
    if port in REFUSED_PORTS:
        raise InvalidParameter(
            f"Browsers refuse port {port}, which is kept for another service.",
            "Choose another one with --port.",
        )
    public = public or for_class
    address = address or (EVERY if public else LOOPBACK)
    if not public and not is_loopback(address):
        raise InvalidParameter(
            f"Other machines can reach {address}, which needs --public and a password.",
            "Leave out --address to serve on this machine only.",
        )
    if origins and not public:
        raise InvalidParameter(
            "--origin lets people open the page under another name, which needs --public."
        )
    password = read_password(password_file, environment)
    oauth = environment.get("PANEL_OAUTH_PROVIDER", "") if public else ""
    if for_class and oauth:
        raise InvalidParameter(
            "--class has codes of its own, and PANEL_OAUTH_PROVIDER is given.", "Unset it."
        )
    class_code = new_code(CLASS_CODE) if for_class and password is None else ""
    password = class_code or password
    if public and password is None and not oauth:
        raise InvalidParameter("--public needs a password.", PASSWORD_HINT)
    if oauth and any(environment.get(name) for name in GUESTS):
        raise InvalidParameter(
            f"{' or '.join(GUESTS)} lets people in without a login.", "Unset it."
        )
    if password is not None and oauth:
        raise InvalidParameter(
            "Both a password and PANEL_OAUTH_PROVIDER are given.", "Leave out one of them."
        )
    named = tuple(_host_of(each, port) for each in origins)
    host = outside_address() if address in (EVERY, "::") else address
    hosts = {LOOPBACK, "localhost", host, *([socket.gethostname().lower()] if public else [])}
    allowed = {*named, *(f"{_bracketed(each)}:{port}" for each in hosts)}
    url = f"http://{named[0] if named else f'{_bracketed(host)}:{port}'}"
    # All visitors of a public server on a loopback address come through a proxy.
    proxied = public and is_loopback(address)
    return Access(
        address, port, public, tuple(sorted(allowed)), password, oauth, url, proxied,
        teacher_code=new_code(TEACHER_CODE) if for_class else "", class_code=class_code,
    )  # fmt: skip


def new_code(length: int) -> str:
    """Return a random code that can be read aloud and typed."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(length))


def is_loopback(address: str) -> bool:
    """Return True if only this machine can reach the address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def read_password(file: Path | None, environment: Mapping[str, str]) -> str | None:
    """Return the password in the first line of a file, else in ``HCVIZ_PASSWORD``, else None.

    Raises
    ------
    InvalidParameter
        If the file cannot be read, or the password is shorter than ``MIN_PASSWORD``.
    """
    if file is None:
        found, source = environment.get("HCVIZ_PASSWORD"), "HCVIZ_PASSWORD"
    else:
        source = str(file)
        try:
            found = (file.read_text(encoding="utf-8").splitlines() or [""])[0]
        except (OSError, UnicodeDecodeError):
            raise InvalidParameter(
                f"{file} cannot be read as a text.", "Name a file with the password."
            ) from None
    if found is None:
        return None
    if len(found.strip()) < MIN_PASSWORD:
        raise InvalidParameter(
            f"The password in {source} is too short.",
            f"Use {MIN_PASSWORD} characters or more.",
        )
    return found.strip()


def outside_address() -> str:
    """Return the address under which other machines reach this one; else loopback.

    A connected datagram socket has the address of the interface that the system would use. Nothing
    is sent.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # reserved for documents (RFC 5737)
            return str(probe.getsockname()[0])
        except OSError:
            return LOOPBACK


def _host_of(origin: str, port: int) -> str:
    """Return ``HOST`` or ``HOST:PORT`` of an origin. Without a port, browsers mean 80 or 443.

    Raises
    ------
    InvalidParameter
        If it is no name of a host, with or without a port.
    """
    plain = origin.lower().removeprefix("https://").removeprefix("http://").rstrip("/")
    if not re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:[0-9]{1,5})?", plain):
        raise InvalidParameter(
            f"--origin {origin!r} is no name of a host.",
            f"Write HOST or HOST:PORT, such as hcviz.example.org or 192.168.1.5:{port}.",
        )
    return plain


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


__all__ = ["Access", "is_loopback", "new_code", "outside_address", "read_access", "read_password"]
