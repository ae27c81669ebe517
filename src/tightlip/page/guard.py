"""Who may ask: this machine's browser, from the page's own address, with the token or the cookie it was given for it.

A name that somebody else's server lets point here (DNS rebinding) is told by Host; another page that sends requests by
Origin and Sec-Fetch-Site; another program of this machine by the lack of a token.
"""

from __future__ import annotations

from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from tightlip.page.sessions import Session, Sessions

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HOSTS = ("127.0.0.1", "localhost")
_FORM = 2_000_000  # bytes of a form that has no file in it
_DIGITS = 20  # of a length; more are no number that anybody means
_WEEK = 7 * 24 * 3600  # seconds that a browser remembers its session; the page's process ends it earlier
UPLOAD = "/upload"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(slots=True)
class Guard:
    """Let requests through to the app that come from the page itself, with their session."""

    app: ASGIApp
    sessions: Sessions
    cookie: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and put headers on whatever is answered."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _put_headers(MutableHeaders(scope=message))
            await send(message)

        answer = self._judge(scope)
        if isinstance(answer, Session):
            scope["state"] = {**scope.get("state", {}), "session": answer}
            try:
                await self.app(scope, receive, guarded)
            except Exception:
                if not started:
                    await _refuse(500, "an error that should not happen; go back.")(scope, receive, guarded)
                raise
        else:
            await answer(scope, receive, guarded)

    def _judge(self, scope: Scope) -> Session | Response:
        """The session of a request, or what it is answered instead."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not _is_here(host, scope):
            return _refuse(421, "this page answers to 127.0.0.1 only; open the address that was printed.")
        if not _is_own(headers, host):
            return _refuse(403, "this request came from another page; open the address that was printed.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _refuse(405, "this page takes GET and POST only.")
        if scope["method"] == "POST" and scope["path"] != UPLOAD and not _is_small(headers):
            return _refuse(413, "this form is too large; give less.")
        session = self.sessions.find(_cookie(headers, self.cookie))
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = next((text for key, text in query if key == "token"), None)
        if token is not None and scope["method"] == "GET":
            return self._enter(scope["path"], [pair for pair in query if pair[0] != "token"], token, session)
        return session or _refuse(403, "this browser has no token; open the address that was printed.")

    def _enter(self, path: str, rest: list[tuple[str, str]], token: str, known: Session | None) -> Response:
        """Take the token out of the address and give a cookie for it."""
        session = known or self.sessions.begin(token)
        if session is None:
            return _refuse(403, "this token is not that of the page; open the address that was printed.")
        safe = path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/"
        answer = RedirectResponse(f"{safe}?{urlencode(rest)}" if rest else safe, status_code=303)
        answer.set_cookie(self.cookie, session.id, max_age=_WEEK, path="/", httponly=True, samesite="strict")
        return answer


def _is_here(host: str, scope: Scope) -> bool:
    name, _, port = host.rpartition(":") if ":" in host else (host, "", "80")
    served = scope.get("server")
    return name in _HOSTS and (served is None or port == str(served[1]))


def _is_own(headers: Headers, host: str) -> bool:
    """Whether a request comes from the page itself or was typed.

    A page without referrers sends "null" for its origin, so that Sec-Fetch-Site, which no page can set, decides.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site not in (None, "same-origin", "none"):
        return False
    return origin in (None, f"http://{host}") or (origin == "null" and site == "same-origin")


def _is_small(headers: Headers) -> bool:
    length = headers.get("content-length", "")
    return length.isdecimal() and len(length) < _DIGITS and int(length) <= _FORM


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return found[name].value if name in found else None


def _refuse(status: int, words: str) -> Response:
    return PlainTextResponse(f"tightlip: {words}\n", status_code=status)


def _put_headers(headers: Any) -> None:
    for name, value in _HEADERS.items():
        headers[name] = value
    headers.setdefault("Content-Security-Policy", POLICY)
    headers.setdefault("X-Frame-Options", "DENY")
