"""Panel's login with a password, with a page of this server and a limit of tries.

Internals of Panel 1.9.4 (``panel/auth.py``): ``BasicLoginHandler`` loads a picture from a CDN. It
shows any text that its address has as ``error``. It compares passwords in a time that depends on
them, and sets cookies without SameSite. ``LogoutHandler`` loads that picture too.
"""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import Any, Protocol

from panel.auth import BasicAuthProvider, BasicLoginHandler

#: The page of login, logout and OAuth's errors. Which it is depends on the values it gets: Panel
#: gives ``errormessage`` to a login, ``error`` to an error, and neither to a logout.
PAGE = Path(__file__).with_name("login.html")
#: The user's name in Panel's cookie: one password is for all visitors.
USER = "visitor"
#: Longest address to which a login returns. Browsers drop longer cookies.
MAX_NEXT = 3000


class Tries(Protocol):
    """Limits the wrong passwords from an address."""

    def refusal(self, address: str) -> str:
        """Return "" if the address may try a password, else a sentence that says when."""

    def count(self, address: str) -> None:
        """Count a wrong password."""


class PasswordAuth(BasicAuthProvider):
    """Panel's provider of logins, for one password."""

    def __init__(self, password: str, tries: Tries) -> None:
        self._password, self._tries = password, tries
        super().__init__(login_template=str(PAGE), logout_template=str(PAGE))

    @property
    def login_handler(self) -> type[BasicLoginHandler]:
        password, tries, template = self._password, self._tries, self._login_template

        class Login(_PasswordLogin):
            _password, _login_template, _tries = password, template, tries

        return Login


class _PasswordLogin(BasicLoginHandler):
    """The page on which a visitor types the password."""

    _password: str
    _tries: Tries

    def get(self) -> None:
        self.remember_next()
        self.show("")

    def remember_next(self) -> None:
        """Keep the address that the visitor wanted, if it is one of this server."""
        self.set_cookie("next_url", _local(self.get_argument("next", "/")))

    def show(self, sentence: str) -> None:
        self.set_header("Cache-Control", "no-store")
        self.write(self._login_template.render(errormessage=sentence))

    def post(self) -> None:
        address = self.request.remote_ip or ""
        if sentence := self._tries.refusal(address):
            self.set_status(429)
            self.show(sentence)
            return
        given = self.get_body_argument("password", "", strip=False).strip()
        if not hmac.compare_digest(given.encode(), self._password.encode()):
            self._tries.count(address)
            self.set_status(403)
            self.show("This is not the password.")
            return
        self.set_current_user(USER)
        wanted = _local(self.get_cookie("next_url", "/") or "/")
        self.clear_cookie("next_url")
        self.redirect(wanted)

    def set_cookie(self, name: str, value: Any, *args: Any, **kwargs: Any) -> None:
        """Set a cookie that no script and no other site gets."""
        secure = self.request.protocol == "https"
        kwargs |= {"httponly": True, "samesite": "Lax", "secure": secure}
        super().set_cookie(name, value, *args, **kwargs)


def _local(address: str) -> str:
    """Return an address of this server, "/" for any other."""
    is_local = address.startswith("/") and not address.startswith("//") and address.isprintable()
    return address if is_local and "\\" not in address and len(address) < MAX_NEXT else "/"


__all__ = ["PAGE", "PasswordAuth"]
