"""A client for HTTP endpoints that speak OpenAI's chat completions, hosted or on this machine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from coterie.active.annotators.text_oracle import Completion
from coterie.exceptions import MissingDependency, OracleFailed
from coterie.parameters import check_arguments

__all__ = ["ChatClient"]

_BUSY = (408, 409, 425, 429)  # of the 4xx those that pass
_SHOWN = 200  # characters of a reply that an error shows


class ChatClient:
    """Text to text by ``POST {url}/chat/completions``; the `complete` of a `TextOracle`.

    Needs httpx (``pip install 'coterie[llm]'``). One client may be called from several threads.

    Parameters
    ----------
    url : str
        Up to and with the version: ``http://localhost:11434/v1``.
    model : str
    key : str, optional
        Sent as a bearer token. It is not kept in any log.
    instructions : str, optional
        A message of the role "system" before the prompt.
    temperature : float, default=0
    timeout : float, default=60
        Seconds to wait for a reply.
    price : (float, float), default=(0, 0)
        Of a million tokens read and written; what a call costs is counted by the reply's `usage`.
    settings : dict, optional
        Anything else for the body of the request, as ``{"max_tokens": 500}``.

    Raises
    ------
    OracleFailed
        When called: the server cannot be reached, is busy (with its wish when to come back), or
        does not answer in JSON of the right form. `final` where another try is pointless.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        instructions: str | None = None,
        temperature: float = 0.0,
        timeout: float = 60.0,
        price: tuple[float, float] = (0.0, 0.0),
        settings: dict[str, Any] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingDependency("ChatClient needs httpx: pip install 'coterie[llm]'.") from None
        check_arguments(ChatClient, locals())
        self.url = url.rstrip("/")
        self.model = model
        self.instructions = instructions
        self.temperature = temperature
        self.price = price
        self.settings = dict(settings or {})
        self._now = now
        self._failures = httpx.HTTPError, httpx.InvalidURL
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._http = httpx.Client(timeout=timeout, headers=headers)

    def __call__(self, prompt: str) -> Completion:
        """What the model says to the prompt, and what that cost."""
        messages = [{"role": "user", "content": prompt}]
        if self.instructions:
            messages.insert(0, {"role": "system", "content": self.instructions})
        body = {"model": self.model, "messages": messages, "temperature": self.temperature}
        try:
            came = self._http.post(f"{self.url}/chat/completions", json=body | self.settings)
        except self._failures as error:
            raise OracleFailed(f"{self.url}: {type(error).__name__}: {error}") from error
        if not came.is_success:
            raise self._refusal(came)
        return self._read(came)

    def _refusal(self, came: Any) -> OracleFailed:
        status = came.status_code
        return OracleFailed(
            f"{self.url} answers {status}: {came.text[:_SHOWN]}",
            retry_after=self._retry_after(came.headers.get("Retry-After")),
            final=400 <= status < 500 and status not in _BUSY,
        )

    def _retry_after(self, header: str | None) -> float | None:
        """Seconds, from a number of them or from a date; None if there is neither."""
        if header is None:
            return None
        if header.strip().isdecimal():
            return float(header)
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max((moment - self._now()).total_seconds(), 0.0)

    def _read(self, came: Any) -> Completion:
        try:
            body = came.json()
            text = body["choices"][0]["message"]["content"]
            usage = body.get("usage") or {}
            used = [usage.get(name) or 0 for name in ("prompt_tokens", "completion_tokens")]
            cost = sum(n * price for n, price in zip(used, self.price, strict=True)) / 1e6
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise OracleFailed(
                f"{self.url} answers with something else than a chat completion: "
                f"{came.text[:_SHOWN]!r}"
            ) from error
        if not isinstance(text, str):
            raise OracleFailed(f"{self.url}: the message has no text: {came.text[:_SHOWN]!r}")
        return Completion(text, cost)

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def __enter__(self) -> ChatClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ChatClient({self.url!r}, {self.model!r})"
