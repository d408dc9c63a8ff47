"""``hcviz serve --public`` from outside: a real server, and requests that no browser would send."""

from __future__ import annotations

import asyncio
import base64
import http.client
import http.cookies
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
import uuid
import zlib
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from bokeh.protocol.messages.error import error
from bokeh.server.views.ws import WSHandler
from panel.auth import BasicLoginHandler
from panel.command.serve import Serve
from panel.io.server import DocHandler
from panel.io.server import WSHandler as PanelWSHandler
from panel.models.markup import HTML
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.web import Application
from tornado.websocket import websocket_connect

from hcviz.cli import main
from hcviz.core.errors import HcvizError, InvalidParameter
from hcviz.io.network_access import is_loopback, outside_address, read_access
from hcviz.ui import serve_page
from hcviz.ui.app import remote_visitors
from hcviz.ui.app.explorer import Explorer
from hcviz.ui.app.rate_limits import RateLimit, UploadLimit
from hcviz.ui.app.server import protection
from hcviz.ui.compat import request_guard, visitor_cookie
from tests.conftest import ROOT
from tests.ports import free_port
from tests.served import served

PASSWORD = "correct horse"
#: Of the server that is started here, none of which a browser may see.
SECRETS = re.compile(r"Traceback|File \"|/site-packages/|\.py\b|" + re.escape(str(ROOT)))


class Public:
    """A server on a loopback address, as if a proxy were before it."""

    def __init__(self, folder, *options):
        self.port, self.log = free_port(), folder / "server.log"
        environment = {**os.environ, "HCVIZ_PASSWORD": PASSWORD, "HCVIZ_STATE": str(folder / "s")}
        command = [sys.executable, "-m", "hcviz", "serve", "zoo", "--port", str(self.port)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *options], cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        until = time.monotonic() + 180
        while "Ctrl-C" not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < until, self.log.read_text()
            time.sleep(0.05)

    def send(self, method, path, body=None, client="203.0.113.1", **headers):
        """Send a request as the proxy would for this client."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urllib.parse.urlencode(body)
        try:
            connection.request(method, path, body, {"X-Real-Ip": client, **headers})
            answer = connection.getresponse()
            return answer, answer.read().decode(errors="replace")
        finally:
            connection.close()

    def get(self, path, **options):
        return self.send("GET", path, **options)

    def log_in(self, password=PASSWORD, **options):
        """The cookies of a login, as a header."""
        answer, page = self.send("POST", "/login", {"password": password}, **options)
        return answer, page, "; ".join(f"{k}={v.coded_value}" for k, v in cookies(answer).items())

    async def connect(self, token, **headers):
        origin = f"http://127.0.0.1:{self.port}"
        headers = {"Origin": origin, "X-Real-Ip": "203.0.113.9", **headers}
        request = HTTPRequest(f"ws://127.0.0.1:{self.port}/ws", headers=headers)
        return await websocket_connect(request, subprotocols=["bokeh", token])

    def handshake(self, token, **headers):
        """The headers of the answer to a websocket, or its status if it is refused."""

        async def work():
            try:
                socket = await self.connect(token, **headers)
            except HTTPClientError as fault:
                return fault.code
            found = socket.headers
            socket.close()
            return found

        return asyncio.run(work())


def cookies(answer):
    found = http.cookies.SimpleCookie()
    for name, value in answer.getheaders():
        if name == "Set-Cookie":
            found.load(value)
    return found


def token_of(page):
    found = re.search(r'"token":"([^"]+)"', page)
    assert found is not None
    return found[1]


def payload(token):
    """What a script on the page can read in its token."""

    def decode(text):
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

    found = json.loads(decode(token.split(".")[0]))
    return json.loads(zlib.decompress(decode(found["__bk__zlib_"])))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Public(
        tmp_path_factory.mktemp("public"),
        *("--public", "--address", "127.0.0.1", "--origin", "https://trees.example.org"),
    )
    yield made
    made.process.terminate()
    made.process.wait(30)


# ---------------------------------------------------------------------- logins


def test_without_the_password_there_is_a_login_and_nothing_else(server):
    answer, page = server.get("/?data=iris")
    assert (answer.status, page) == (302, "")
    assert answer.getheader("Location") == "./login?next=%2F%3Fdata%3Diris"
    answer, page = server.get("/login?next=/%3Fdata%3Diris&error=Call+555-1234")
    assert answer.status == 200
    assert "555" not in page
    assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', page)
    assert cookies(answer)["next_url"].value == "/?data=iris"
    assert server.handshake("x") == 403
    for password in ("", "wrong", PASSWORD[:-1], PASSWORD + "x", "\u202e"):
        answer, page, _ = server.log_in(password)
        assert answer.status == 403
        assert "This is not the password." in page
        assert "user" not in cookies(answer)


@pytest.mark.parametrize(
    "wanted", ["https://evil.example", "//evil.example", "/\\evil.example", "evil", "/" * 4000]
)
def test_a_login_leads_to_this_server_only(server, wanted):
    answer, _ = server.get("/login?next=" + urllib.parse.quote(wanted, safe=""))
    assert cookies(answer)["next_url"].value == "/"
    answer, _, _ = server.log_in(Cookie=f"next_url={wanted}")
    assert answer.getheader("Location") == "/"


def test_cookies_are_for_this_site_and_no_script(server):
    answer, _, login = server.log_in()
    assert answer.status == 302
    assert {"user", "id_token"} <= {*cookies(answer)}
    for each in cookies(answer).values():
        assert (each["httponly"], each["samesite"], each["path"]) == (True, "Lax", "/")
        assert not each["secure"]
    answer, _ = server.send(
        "POST", "/login", {"password": PASSWORD}, **{"X-Forwarded-Proto": "https"}
    )
    assert all(each["secure"] for each in cookies(answer).values())
    answer, page = server.get("/", Cookie=login)
    assert answer.status == 200
    found = server.handshake(token_of(page), Cookie=login)
    (visitor,) = found.get_list("Set-Cookie")
    assert re.fullmatch(
        r"hcviz-visitor=[\w-]{32}; expires=[^;]+; HttpOnly; Path=/; SameSite=Lax", visitor
    )
    # A browser that has the cookie keeps it, and the page's token holds neither cookie.
    theirs = f"{login}; {visitor.partition(';')[0]}; hcviz-theme=dark"
    _, page = server.get("/", Cookie=theirs)
    assert payload(token_of(page))["cookies"] == {"hcviz-theme": "dark"}
    assert not payload(token_of(page))["headers"]
    assert "Set-Cookie" not in server.handshake(token_of(page), Cookie=theirs)


def test_wrong_passwords_are_limited_for_each_address(server):
    statuses = [server.log_in("wrong", client="203.0.113.66")[0].status for _ in range(45)]
    assert statuses[:30] == [403] * 30
    assert 429 in statuses
    answer, page, _ = server.log_in(client="203.0.113.66")
    assert answer.status == 429
    assert re.search(r"Too many wrong passwords\. Try again in \d seconds?\.", page)
    assert server.log_in(client="203.0.113.67")[0].status == 302


# ---------------------------------------------------------------------- pages and sockets


def test_every_answer_has_the_headers(server):
    _, _, login = server.log_in()
    for method, path, status in [
        ("GET", "/", 302), ("GET", "/login", 200), ("GET", "/logout", 200), ("PUT", "/login", 405),
        ("GET", "/static/js/bokeh.min.js", 200), ("GET", "/static/js/none.js", 404),
        ("GET", "/static/../../etc/passwd", 403), ("GET", "/components/os/x/css/y", 404),
        ("GET", "/nothing", 404), ("GET", "/metadata", 404), ("GET", "/autoload.js", 404),
        ("GET", "/rest/session_info", 404), ("GET", "/favicon.ico", 200),
    ]:  # fmt: skip
        answer, page = server.send(method, path)
        assert answer.status == status, path
        policy = answer.getheader("Content-Security-Policy")
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        script = next(each for each in policy.split("; ") if each.startswith("script-src"))
        assert re.fullmatch(r"script-src 'nonce-[\w-]{24}' 'unsafe-eval'", script)
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert answer.getheader("Referrer-Policy") == "same-origin"
        assert answer.getheader("X-Frame-Options") == "DENY"
        assert "Server" not in answer.headers
        if not path.endswith("bokeh.min.js"):
            assert not SECRETS.search(page.replace("favicon", "")), path
    nonces = set()
    for _ in range(2):
        answer, page = server.get("/", Cookie=login)
        assert int(answer.getheader("Content-Length")) == len(page.encode())
        (nonce,) = re.findall(r"'nonce-([\w-]+)'", answer.getheader("Content-Security-Policy"))
        scripts = re.findall(r"<script[^>]*>", page)
        assert len(scripts) > 5
        assert all(f'nonce="{nonce}"' in each for each in scripts)
        nonces.add(nonce)
    assert len(nonces) == 2


def test_a_websocket_needs_this_origin_a_login_and_a_token_of_this_server(server):
    _, _, login = server.log_in()
    _, page = server.get("/", Cookie=login)
    token = token_of(page)
    assert server.handshake(token, Cookie=login, Origin="https://evil.example") == 403
    assert server.handshake(token, Cookie="user=x") == 403
    assert server.handshake(token) == 403
    for origin in ("https://trees.example.org", f"http://localhost:{server.port}"):
        assert not isinstance(server.handshake(token, Cookie=login, Origin=origin), int)
    # A token that a visitor made: the socket is closed before any session.
    forged = base64.urlsafe_b64encode(b'{"session_id": "mine", "session_expiry": 9999999999}')

    async def first_message(token):
        socket = await server.connect(token, Cookie=login)
        return await asyncio.wait_for(socket.read_message(), 60), socket.close_reason

    for each in (forged.decode().rstrip("="), token[:-3] + "abc"):
        assert asyncio.run(first_message(each)) == (None, None)


def test_no_message_on_the_socket_shows_a_traceback(server):
    _, _, login = server.log_in()
    _, page = server.get("/", Cookie=login)

    async def answers(*parts):
        socket = await server.connect(token_of(page), Cookie=login)
        for _ in range(3):  # the acknowledgement
            await socket.read_message()
        for part in parts:
            await socket.write_message(part)
        texts = []
        while (text := await asyncio.wait_for(socket.read_message(), 60)) is not None:
            texts.append(text)
            if len(texts) == 3:
                socket.close()
        return texts, socket.close_code, socket.close_reason

    header = json.dumps({"msgid": uuid.uuid4().hex, "msgtype": "PATCH-DOC"})
    bad = json.dumps({"events": [{"kind": "ModelChanged", "model": {"id": "none"}, "attr": "x"}]})
    texts, _, _ = asyncio.run(answers(header, "{}", bad))
    found = json.loads(texts[2])
    assert found == {
        "text": "The server could not handle a message; its log says why.", "traceback": None,
    }  # fmt: skip
    texts, code, reason = asyncio.run(answers("no JSON", "{}", "{}"))
    assert (texts, code) == ([], 1011)
    assert reason == "The server could not handle a message; its log says why."
    assert "Traceback" in server.log.read_text()  # the log has it


def test_a_large_body_is_not_read(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest("POST", "/login")
    connection.putheader("Content-Length", "100000")
    connection.endheaders()  # it is refused before the body is sent
    assert connection.getresponse().status == 400
    connection.close()


def opened_until_refused(server, **options):
    """How many pages are opened before one is refused; the limit rises a little meanwhile."""
    count = 0
    while (status := server.send("HEAD", "/", **options)[0].status) != 429:
        assert status == 405  # neither a session nor a login
        count += 1
        assert count < 1000
    return count


def test_openings_are_limited_for_each_address_and_each_visitor(server):
    _, _, login = server.log_in()
    known = f"{login}; hcviz-visitor={'a' * 32}"
    assert opened_until_refused(server, client="203.0.113.70", Cookie=known) in range(30, 45)
    answer, page = server.get("/", client="203.0.113.70", Cookie=known)
    assert re.fullmatch(r"You opened many pages\. Try again in \d seconds?\.\n", page)
    assert int(answer.getheader("Retry-After")) in (1, 2)
    assert opened_until_refused(server, client="203.0.113.71") in range(120, 180)
    assert server.get("/login", client="203.0.113.71")[0].status == 200  # not a page
    assert server.get("/", client="203.0.113.72")[0].status == 302


# ---------------------------------------------------------------------- options


def access(environment=None, **options):
    return read_access(**options, environment=environment or {})


def test_other_machines_get_the_page_only_with_a_permission():
    found = access()
    assert (found.address, found.public, found.password) == ("127.0.0.1", False, None)
    assert found.origins == ("127.0.0.1:5006", "localhost:5006")
    assert access(address="::1").origins == ("127.0.0.1:5006", "[::1]:5006", "localhost:5006")
    for address in ("0.0.0.0", "::", "192.168.1.5", "example.org"):
        with pytest.raises(InvalidParameter, match="needs --public and a password"):
            access(address=address)
    with pytest.raises(InvalidParameter, match="needs --public"):
        access(origins=["example.org"])


def test_a_public_page_needs_a_password_or_oauth(tmp_path):
    file = tmp_path / "password"
    with pytest.raises(InvalidParameter, match="--public needs a password"):
        access(public=True)
    with pytest.raises(InvalidParameter, match="cannot be read"):
        access(public=True, password_file=file)
    for short in ("", "\n", "1234567\n12345678", "       1"):
        file.write_text(short)
        with pytest.raises(InvalidParameter, match="too short"):
            access(public=True, password_file=file)
    file.write_text("correct horse\nsecond line\n")
    assert access(public=True, password_file=file).password == PASSWORD
    assert access({"HCVIZ_PASSWORD": PASSWORD}, public=True).password == PASSWORD
    assert access({"PANEL_OAUTH_PROVIDER": "github"}, public=True).oauth == "github"
    for guests in ("PANEL_OAUTH_OPTIONAL", "PANEL_OAUTH_GUEST_ENDPOINTS"):
        with pytest.raises(InvalidParameter, match="without a login"):
            access({"PANEL_OAUTH_PROVIDER": "github", guests: "True"}, public=True)
    with pytest.raises(InvalidParameter, match="Both"):
        access({"PANEL_OAUTH_PROVIDER": "github", "HCVIZ_PASSWORD": PASSWORD}, public=True)


def test_the_printed_address_is_that_of_other_machines():
    found = access({"HCVIZ_PASSWORD": PASSWORD}, public=True, port=7000)
    assert found.address == "0.0.0.0"
    assert found.url == f"http://{outside_address()}:7000"
    assert f"{outside_address()}:7000" in found.origins
    named = access({"HCVIZ_PASSWORD": PASSWORD}, public=True, origins=["https://Trees.org/"])
    assert named.url == "http://trees.org"
    assert "trees.org" in named.origins
    for bad in ("a b", "*", "x/y", "", "http://"):
        with pytest.raises(InvalidParameter, match="no name of a host"):
            access({"HCVIZ_PASSWORD": PASSWORD}, public=True, origins=[bad])


def test_loopback():
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "localhost.evil.org", "")))


def test_the_command_names_what_is_missing_in_one_line(capsys, monkeypatch):
    for name in ("HCVIZ_PASSWORD", "PANEL_OAUTH_PROVIDER"):
        monkeypatch.delenv(name, raising=False)
    for options in (["--address", "0.0.0.0"], ["--public"]):
        assert main(["serve", *options]) == 2
        output = capsys.readouterr().err
        assert output.count("\n") == 1
        assert "--public" in output


# ---------------------------------------------------------------------- limits


def test_a_limit_is_a_burst_and_a_rate():
    now = [0.0]
    limit = RateLimit(burst=3, per_minute=6, clock=lambda: now[0])
    assert [limit.wait("a") for _ in range(4)] == [0, 0, 0, 10]
    assert limit.seconds_until("b") == 0
    now[0] = 10.0
    assert [limit.wait("a"), limit.wait("a")] == [0, 10]
    now[0] = 1e6
    assert [limit.wait("a", 3), limit.seconds_until("a", 2)] == [0, 20]
    for k in range(30_000):
        limit.wait(str(k))
    assert len(limit) <= 10_000


def test_uploads_are_limited_by_files_and_by_bytes():
    now = [0.0]
    limit = UploadLimit(lambda: now[0])
    for _ in range(30):
        limit.take("a", 1, 100)
    with pytest.raises(HcvizError, match=r"You uploaded many files\. Try again in 6 seconds\."):
        limit.take("a", 1, 100)
    limit.take("a", 0, 100)  # the next piece of a file
    limit.take("b", 1, 2**30)
    with pytest.raises(HcvizError, match="Try again in 60 seconds"):
        limit.take("b", 0, 2**28)
    now[0] = 60.0
    limit.take("b", 0, 2**28)


def test_a_refused_upload_gives_one_sentence():
    explorer = Explorer(lambda call: call())
    limit = UploadLimit(lambda: 0.0)
    explorer.files.limit_upload = partial(limit.take, "a")
    content = base64.b64encode(b"together_1,together_2,apart\n").decode()
    for number in range(31):
        assert explorer.store.view.error is None
        explorer.files.act(
            "upload",
            {"id": number, "kind": "constraints", "name": "a.csv", "piece": 0, "pieces": 2,
             "base64": content, "size": 99},
        )  # fmt: skip
    assert explorer.store.view.error == ("You uploaded many files. Try again in 6 seconds.", "")
    assert explorer.store.view.loading is None
    explorer.close()


# ---------------------------------------------------------------------- panel serve app.py


@pytest.mark.parametrize(
    ("client", "allowed", "refused"),
    [
        ("203.0.113.5", "", True), ("203.0.113.5", "0", True), ("fe80::1%eth0", "", True),
        ("127.0.0.1", "", False), ("::1", "", False), (None, "", False),
        ("203.0.113.5", "1", False),
    ],
)  # fmt: skip
def test_app_py_refuses_other_machines(client, allowed, refused, monkeypatch, caplog):
    monkeypatch.setenv("HCVIZ_PUBLIC", allowed)
    request = SimpleNamespace(remote_ip=client)
    document = SimpleNamespace(session_context=SimpleNamespace(request=request))
    assert remote_visitors.is_refused(document) is refused
    assert (f"Refused a page to {client}." in caplog.text) is refused


@pytest.mark.parametrize("refused", [True, False])
def test_another_machine_gets_a_sentence_instead_of_the_page(refused, monkeypatch):
    """As ``panel serve app.py``, which listens on all addresses by itself."""
    monkeypatch.setenv("HCVIZ_STATE", "off")
    if refused:  # take this machine for another one
        monkeypatch.setattr(remote_visitors, "is_loopback", lambda address: False)
    with served(serve_page) as page:
        texts = [each.text for each in page.client.document.select({"type": HTML})]
        assert any("hcviz serve --public" in text for text in texts) is refused
        found = page.client.document.get_model_by_name("tree-lines")
        assert (found is None) is refused


def test_panel_serve_still_listens_on_all_addresses_by_itself():
    """Where this fails, docs/start.md and docs/security.md say too much."""
    given = next(options for flag, options in Serve.args if flag == "--address")
    assert given.default is None


# ---------------------------------------------------------------------- OAuth


def test_oauth_protects_with_local_pages():
    found = access({"PANEL_OAUTH_PROVIDER": "github"}, public=True)
    options = protection(found)
    assert options["oauth_provider"] == "github"
    assert len(options["cookie_secret"]) >= 32
    for page in (options["oauth_error_template"], options["logout_template"]):
        assert "//" not in Path(page).read_text()
    assert "cookie_secret" not in protection(access())
    assert protection(access())["sign_sessions"]


# ---------------------------------------------------------------------- the contracts


def test_panel_and_bokeh_still_have_what_is_replaced():
    """Where this fails, read the module of hcviz/ui/compat that is named, and mend or delete it."""
    assert visitor_cookie.prepare_page.__qualname__ == "AuthRequestHandler.prepare"
    assert visitor_cookie.prepare_socket.__qualname__ == "WSHandler.prepare"
    visitor_cookie.keep_visitor_cookies()
    assert DocHandler.prepare is visitor_cookie.prepare_page_with_visitor
    assert PanelWSHandler.prepare is visitor_cookie.prepare_socket_with_visitor
    assert callable(error.create)
    assert {"_internal_error", "_protocol_error"} <= {*vars(WSHandler)}
    assert {"post", "get", "set_current_user"} <= {*vars(BasicLoginHandler)}


def test_the_first_page_of_panel_serve_lets_its_application_compress_scripts():
    """``panel serve`` has no hook for its server; a page's handler knows the application."""
    application = Application()
    before = len(application.transforms)
    for _ in range(2):
        request_guard.compress_scripts_of(application)
    assert len(application.transforms) == before + 1

    class Handler:
        request = HTTPServerRequest(method="GET", uri="/app", headers=HTTPHeaders())

    async def nothing(handler):
        assert request_guard.CompressedScripts in handler.application.transforms

    handler = Handler()
    handler.application = Application()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(visitor_cookie, "prepare_page", nothing)
        asyncio.run(visitor_cookie.prepare_page_with_visitor(handler))


def test_scripts_are_sent_compressed_and_the_page_is_not(server):
    """The page has a secret token, whose letters the size of a compressed page could tell."""
    _, _, cookie = server.log_in(client="203.0.113.77")
    page, _ = server.get("/", client="203.0.113.77", Cookie=cookie, **{"Accept-Encoding": "gzip"})
    script = "/static/js/bokeh.min.js"
    plain, text = server.get(script, client="203.0.113.77", Cookie=cookie)
    packed, _ = server.get(
        script, client="203.0.113.77", Cookie=cookie, **{"Accept-Encoding": "gzip"}
    )
    assert page.status == plain.status == packed.status == 200
    encodings = [each.getheader("Content-Encoding") for each in (page, plain, packed)]
    assert encodings == [None, None, "gzip"]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    headers = {"X-Real-Ip": "203.0.113.77", "Cookie": cookie, "Accept-Encoding": "gzip"}
    connection.request("GET", script, headers=headers)
    found = connection.getresponse().read()
    connection.close()
    assert len(found) < len(text) / 3
    assert zlib.decompress(found, 31).decode() == text
