"""Panel's login with a password, with a page of this server and a limit of tries.

Internals of Panel 1.9.4 (``panel/auth.py``): ``BasicLoginHandler`` loads a picture from a CDN. It
shows any text that its address has as ``error``. It compares passwords in a time that depends on
them, and sets cookies without SameSite. ``LogoutHandler`` loads that picture too.
``BasicLoginHandler.set_current_user`` signs the cookie ``user``, which :func:`user_of` reads.
"""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import Any, Protocol

from bokeh.document import Document
from panel.auth import BasicAuthProvider, BasicLoginHandler
from panel.config import config
from tornado.httputil import HTTPServerRequest
from tornado.web import decode_signed_value

#: The page of login, logout and OAuth's errors. Which it is depends on the values it gets: Panel
#: gives ``errormessage`` to a login, ``error`` to an error, and neither to a logout.
PAGE = Path(__file__).with_name("login.html")
#: The user's name in Panel's cookie: one password is for all visitors, another for the teacher.
USER, TEACHER = "visitor", "teacher"
#: Longest address to which a login returns. Browsers drop longer cookies.
MAX_NEXT = 3000


class Tries(Protocol):
    """Limits the wrong passwords from an address."""

    def refusal(self, address: str) -> str:
        """Return "" if the address may try a password, else a sentence that says when."""

    def count(self, address: str) -> None:
        """Count a wrong password."""


class PasswordAuth(BasicAuthProvider):
    """Panel's provider of logins, for one password, and for the code of a teacher if given."""

    def __init__(self, password: str, tries: Tries, teacher_code: str = "") -> None:
        self._tries = tries
        self._users = {USER: password} | ({TEACHER: teacher_code} if teacher_code else {})
        super().__init__(login_template=str(PAGE), logout_template=str(PAGE))

    @property
    def login_handler(self) -> type[BasicLoginHandler]:
        users, tries, template = self._users, self._tries, self._login_template

        class Login(_PasswordLogin):
            _users, _login_template, _tries = users, template, tries

        return Login


class _PasswordLogin(BasicLoginHandler):
    """The page on which a visitor types the password."""

    _users: dict[str, str]
    _tries: Tries

    def get(self) -> None:
        self.remember_next()
        self.show("")

    def remember_next(self) -> None:
        """Keep the address that the visitor wanted, if it is one of this server."""
        self.set_cookie("next_url", _local(self.get_argument("next", "/")))

    def show(self, sentence: str) -> None:
        self.set_header("Cache-Control", "no-store")
        for_class = TEACHER in self._users
        self.write(self._login_template.render(errormessage=sentence, for_class=for_class))

    def post(self) -> None:
        address = self.request.remote_ip or ""
        if sentence := self._tries.refusal(address):
            self.set_status(429)
            self.show(sentence)
            return
        given = self.get_body_argument("password", "", strip=False).strip()
        users = [
            user
            for user, password in self._users.items()
            if hmac.compare_digest(given.encode(), password.encode())
        ]
        if not users:
            self._tries.count(address)
            self.set_status(403)
            word = "code" if TEACHER in self._users else "password"
            self.show(f"This is not the {word}.")
            return
        self.set_current_user(users[0])
        wanted = _local(self.get_cookie("next_url", "/") or "/")
        self.clear_cookie("next_url")
        self.redirect(wanted)

    def set_cookie(self, name: str, value: Any, *args: Any, **kwargs: Any) -> None:
        """Set a cookie that no script and no other site gets."""
        secure = self.request.protocol == "https"
        kwargs |= {"httponly": True, "samesite": "Lax", "secure": secure}
        super().set_cookie(name, value, *args, **kwargs)


def user_of(document: Document) -> str | None:
    """Return the user in the cookie of the page's request; None without a valid one."""
    request = getattr(getattr(document.session_context, "request", None), "_request", None)
    if not isinstance(request, HTTPServerRequest) or not config.cookie_secret:
        return None
    morsel = request.cookies.get("user")
    if morsel is None:
        return None
    found = decode_signed_value(config.cookie_secret, "user", morsel.value)
    return None if found is None else found.decode()


def _local(address: str) -> str:
    """Return an address of this server, "/" for any other."""
    is_local = address.startswith("/") and not address.startswith("//") and address.isprintable()
    return address if is_local and "\\" not in address and len(address) < MAX_NEXT else "/"


__all__ = ["PAGE", "TEACHER", "PasswordAuth", "user_of"]
