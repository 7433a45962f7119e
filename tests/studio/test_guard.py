"""Who gets in, and what gets through: hosts, origins, tokens, passwords, sizes, rates."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient
from studio_browser import BASE, PORT, Browser

from coterie.exceptions import InvalidParameter
from coterie.studio.core import Studio
from coterie.studio.guard import POLICY, Gate, Visitor
from coterie.studio.server import ROUTES, make_app
from coterie.studio.serving import Address

SECRET = "correct horse"


def stranger(app):
    return TestClient(app, base_url=BASE, raise_server_exceptions=False)


def test_nothing_without_the_token(app):
    """Every address of the server, by every method, for somebody without a cookie."""
    client = stranger(app)
    for path in {re.sub(r"\{\w+\}", "1", path) for _, path, _ in ROUTES} | {
        "/api/events", "/api/image", "/api/files/x.csv", "/assets/x.js", "/favicon.svg", "/nothing",
    }:  # fmt: skip
        for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
            reply = client.request(method, path)
            assert reply.status_code == 401, (method, path)
            assert reply.json()["error"]["kind"] == "NotSignedIn"
    page = client.get("/")
    assert page.status_code == 401
    assert "token" in page.text
    assert client.get("/?token=wrong").status_code == 401
    assert "set-cookie" not in client.get("/?token=").headers


def test_the_token_becomes_a_cookie_that_no_script_reads(app, gate):
    client = stranger(app)
    reply = client.get(f"/?token={gate.token}", follow_redirects=False)
    assert reply.status_code == 303
    assert reply.headers["location"] == "/"
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert cookie.startswith(f"coterie_studio_{PORT}=")
    assert gate.token not in cookie
    assert client.get("/api/state").status_code == 200
    assert "Secure" in Gate(1, "x", secure=True).set_cookie("v")


@pytest.mark.parametrize(
    ("host", "welcome"),
    [
        (f"127.0.0.1:{PORT}", True),
        (f"localhost:{PORT}", True),
        (f"[::1]:{PORT}", True),
        (f"127.8.8.8:{PORT}", True),
        ("127.0.0.1:1", False),
        ("127.0.0.1", False),
        (f"evil.example:{PORT}", False),
        (f"127.0.0.1.evil.example:{PORT}", False),
        (f"localhost.evil.example:{PORT}", False),
        (f"192.168.0.9:{PORT}", False),
        (f"127.0.0.1:{PORT}:{PORT}", False),
        (f"127.0.0.1:{PORT}x", False),
        ("", False),
        ("a" * 5000, False),
    ],
)
def test_the_server_has_its_own_names_only(ann, host, welcome):
    """Else a site could point a name of its own at 127.0.0.1 and read along."""
    headers = {"host": host, "origin": f"http://{host}"}
    reply = ann.http.get("/api/state", headers=headers)
    assert (reply.status_code == 200) == welcome
    if not welcome:
        assert reply.json()["error"]["kind"] == "ForbiddenHost"


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        f"https://127.0.0.1:{PORT}",
        "http://127.0.0.1:1",
        "",
        "file://",
    ],
)
def test_pages_of_other_sites_get_nothing(ann, origin):
    for send in (ann.http.get, ann.http.post):
        reply = send("/api/state", headers={"origin": origin})
        assert reply.status_code == 403
        assert reply.json()["error"]["kind"] == "ForbiddenOrigin"
    site = {"sec-fetch-site": "cross-site"}
    assert ann.http.get("/api/state", headers=site).status_code == 403
    assert ann.http.get("/", headers=site).status_code == 200  # a link may lead here


def test_no_other_site_is_ever_allowed(ann):
    for path in ("/api/state", "/", "/api/nothing"):
        reply = ann.http.get(path)
        assert not [name for name in reply.headers if name.startswith("access-control")]
    preflight = ann.http.options("/api/answer", headers={"access-control-request-method": "POST"})
    assert preflight.status_code == 405


def test_every_response_says_what_a_browser_must_know(ann, app):
    for reply in (
        ann.http.get("/"),
        ann.http.get("/api/state"),
        ann.http.get("/nothing"),
        stranger(app).get("/api/state"),
        stranger(app).get("/", headers={"host": "evil"}),
    ):
        assert reply.headers["content-security-policy"] == POLICY
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-frame-options"] == "DENY"
    assert "unsafe" not in POLICY


def test_own_pages_hold_no_script_and_no_style(ann, app):
    for page in (ann.http.get("/").text, stranger(app).get("/").text):
        assert "<script" not in page
        assert "style=" not in page
        assert "<style" not in page


def test_a_password_opens_too(studio):
    gate = Gate(PORT, "root", password=SECRET)
    client = stranger(make_app(studio, gate))
    client.headers["origin"] = BASE
    assert 'type="password"' in client.get("/").text
    wrong = client.post("/login", data={"password": "battery"})
    assert wrong.status_code == 401
    assert "not right" in wrong.text
    assert client.post("/login", data={"password": SECRET}).status_code == 200
    assert client.get("/api/state").status_code == 200


def test_there_is_no_password_unless_one_was_set(app):
    client = stranger(app)
    for given in ("", "None", SECRET):
        assert client.post("/login", data={"password": given}).status_code == 401


def test_guessing_is_slow(studio):
    gate = Gate(PORT, "root", password=SECRET)
    client = stranger(make_app(studio, gate))
    codes = [client.post("/login", data={"password": f"guess {i}"}).status_code for i in range(7)]
    assert codes == [401] * 5 + [429] * 2
    assert client.post("/login", data={"password": SECRET}).status_code == 429


def test_wrong_tokens_lock_nobody_out(app, gate):
    """Any page in the same browser can send them; five a minute closed the door to all."""
    client = stranger(app)
    assert {client.get(f"/?token=wrong{i}").status_code for i in range(9)} == {401}
    assert client.get(f"/?token={gate.token}").status_code == 200
    assert client.get("/api/state").status_code == 200


def test_a_visitor_who_asks_too_much_waits(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("coterie.studio.guard.time.monotonic", lambda: now[0])
    visitor = Visitor("x")
    assert sum(visitor.spend() for _ in range(1000)) == 300
    now[0] = 1.0
    assert sum(visitor.spend() for _ in range(1000)) == 100
    now[0] = 0.5  # a clock that goes back gives nothing and takes nothing
    assert not visitor.spend()


def test_too_many_requests_are_told_when_to_come_again(ann, app, gate):
    cookie = ann.http.cookies[gate.cookie]
    gate._visitors[cookie]._left = 0.0
    gate._visitors[cookie]._seen += 1000
    reply = ann.http.get("/api/state")
    assert reply.status_code == 429
    assert reply.json()["error"]["kind"] == "TooManyRequests"
    assert int(reply.headers["retry-after"]) >= 1


def test_bodies_have_a_size_and_a_kind(ann):
    big = b'{"name": "' + b"x" * (5 << 20) + b'"}'
    send = {"content-type": "application/json"}
    reply = ann.http.post("/api/me", content=big, headers=send)
    assert reply.status_code == 413
    assert reply.json()["error"]["kind"] == "TooLarge"
    pieces = (b"x" * (1 << 20) for _ in range(6))  # without a length
    assert ann.http.post("/api/me", content=pieces, headers=send).status_code == 413
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        reply = ann.http.post("/api/me", content=b"{}", headers={"content-type": kind})
        assert reply.status_code == 415
        assert reply.json()["error"]["kind"] == "UnsupportedType"


def test_no_request_opens_a_file_elsewhere(ann, folder):
    secret = folder.parent / "secret.csv"
    secret.write_text("a\n1\n")
    (folder / "link.csv").symlink_to(secret)
    (folder / "static").mkdir()
    (folder / "static" / "index.html").write_text("<!doctype html><title>x</title>")
    assets = folder / "static" / "assets"
    assets.mkdir()
    (assets / "a.js").write_text("1")
    assert ann.http.get("/").text.startswith("<!doctype html><title>x")
    assert ann.http.get("/assets/a.js").headers["cache-control"].endswith("immutable")
    names = ["../secret.csv", "..%2fsecret.csv", "%2e%2e/secret.csv", str(secret), "link.csv"]
    names += ["..\\secret.csv", "....//secret.csv", "/etc/passwd", "rows.csv/../../secret.csv", ""]
    for name in names:
        reply = ann.http.post("/api/preview", json={"file": name})
        assert reply.status_code in (400, 404), name
        assert ann.http.get(f"/assets/{name}").status_code in (404, 405), name
        body = {"key": ann.key(), "file": name, "id": None, "columns": {}}
        assert ann.http.post("/api/open", json=body).status_code in (400, 404), name
        assert ann.http.get(f"/api/export/{name}").status_code in (400, 404), name
    assert [f["name"] for f in ann.get("files")["files"]] == ["rows.csv"]


def test_the_network_needs_a_password_or_tls(tmp_path):
    for host in ("0.0.0.0", "::", "192.168.0.9", "example.org"):
        with pytest.raises(InvalidParameter, match="--password-file"):
            Address(host).check()
        Address(host, password="long enough").check()
        Address(host, certificate=tmp_path, key=tmp_path).check()
    for host in ("127.0.0.1", "localhost", "::1"):
        Address(host).check()
    with pytest.raises(InvalidParameter, match="8 characters"):
        Address("0.0.0.0", password="short").check()
    with pytest.raises(InvalidParameter, match="both"):
        Address("0.0.0.0", certificate=tmp_path).check()


def test_on_the_network_numbers_and_given_names_are_welcome():
    gate = Gate(80, "x", hosts=["box.lan"], anywhere=True, password=SECRET)
    for host, welcome in (("192.168.0.9", True), ("box.lan", True), ("evil.example", False)):
        assert gate.knows_host(host) == welcome


def test_a_name_cannot_be_that_of_a_program(ann):
    for name in ("", "  ", "(clustering)", "x" * 81, 7, None, "a\x00b"):
        assert ann.post("me", 400, name=name)["error"]["field"] == "name"
    assert ann.post("me", name="Żółć 李")["name"] == "Żółć 李"


def test_two_servers_on_one_machine_do_not_share_cookies(studio, ann, gate):
    other = make_app(studio, Gate(PORT, "root"))
    client = stranger(other)
    client.cookies.set(gate.cookie, ann.http.cookies[gate.cookie])
    assert client.get("/api/state").status_code == 401


def test_without_a_session_everything_says_so(tmp_path, gate):
    studio = Studio(tmp_path)
    browser = Browser(make_app(studio, gate), gate)
    assert browser.get("state")["phase"] == "empty"
    for method, path, name in ROUTES:
        if name in ("state", "me", "files", "preview", "open", "close"):
            continue
        path = re.sub(r"\{\w+\}", "1", path)
        reply = browser.http.request(method, path, json={} if method == "POST" else None)
        assert reply.status_code == 409, path
        assert reply.json()["error"]["kind"] == "NoSession"
