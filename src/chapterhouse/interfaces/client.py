"""A client of the HTTP service, with the service's types.

::

    with Client("http://127.0.0.1:8431", key="ch_…") as client:
        client.wait(client.upload("report.pdf"))
        print(client.ask("What was decided?").text)
"""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx2

from chapterhouse.errors import ChapterhouseError
from chapterhouse.files import home_folder
from chapterhouse.interfaces.admission import is_loopback, read_owner_key
from chapterhouse.interfaces.api.schemas import ContentResult, ContextResult, RemovalResult
from chapterhouse.interfaces.values import PublicSearch, adapter_of
from chapterhouse.types import FINISHED, Answer, Document, Job

Answered = TypeVar("Answered")

_SECONDS: Final = 120.0
_BETWEEN_SECONDS: Final = 0.2
_ATTEMPTS: Final = 5  # where the server says to come back later
_BUSY: Final = frozenset({429, 503})
_LONGEST_PAUSE: Final = 30.0


class ServiceError(ChapterhouseError):
    """The service refused a request, or could not be reached.

    Attributes:
        status: Of HTTP; 0 where there was no answer.
        kind: The last part of the problem's type, such as ``not-found``.
    """

    def __init__(self, status: int, message: str, *, hint: str = "", kind: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.kind = kind


class Client(AbstractContextManager["Client"]):
    """A client of one workspace. Close it, or use it as a context manager. Safe between threads.

    Args:
        key: An API key; on this machine, the owner's in the home by default.
        workspace: Its name; the key's only one, or ``default``, when empty.
    """

    def __init__(
        self, url: str, *, key: str = "", workspace: str = "", timeout: float = _SECONDS
    ) -> None:
        if not key and is_loopback(httpx2.URL(url).host):
            key = read_owner_key(home_folder())
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        headers |= {"X-Workspace": workspace} if workspace else {}
        self._http = httpx2.Client(base_url=url, headers=headers, timeout=timeout)

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def upload(self, path: Path | str, *, shelf: str = "", retain_both: bool = False) -> Job:
        """Send a file; return the job that reads it. All methods raise ``ServiceError``.

        Without a shelf it stays where it is, or comes on the usual one. It replaces what was sent
        there under the same name, which ``replaced`` in the job's result names, unless both stay.
        """
        path = Path(path)
        file = {"file": (path.name, path.read_bytes())}  # read, so that it can be sent again
        route = "/api/documents/upload"
        data = {"shelf": shelf, "keep": "both" if retain_both else ""}
        return self._call(Job, "POST", route, files=file, data=data)

    def job(self, job_id: str) -> Job:
        """Return a job."""
        return self._call(Job, "GET", f"/api/jobs/{job_id}")

    def wait(self, job: Job, *, seconds: float = 600.0) -> Job:
        """Return a job once it has ended.

        Raises:
            TimeoutError: it has not ended in time.
        """
        deadline = time.monotonic() + seconds
        while job.state not in FINISHED:
            if time.monotonic() > deadline:
                raise TimeoutError(f"The job {job.id} has not ended in {seconds:g} seconds.")
            time.sleep(_BETWEEN_SECONDS)
            job = self.job(job.id)
        return job

    def documents(self, **filters: str | int) -> Iterator[Document]:
        """Yield documents in order of id; filters are the route's."""
        query: dict[str, str | int] = {**filters, "cursor": ""}
        while True:
            page = self._send("GET", "/api/documents", params=query).json()
            yield from map(adapter_of(Document).validate_python, page["documents"])
            if not page["next"]:
                return
            query["cursor"] = page["next"]

    def document(self, document_id: str) -> Document:
        """Return a document without its text."""
        return self._call(Document, "GET", f"/api/documents/{document_id}")

    def content(self, document_id: str) -> ContentResult:
        """Return the text of a document."""
        return self._call(ContentResult, "GET", f"/api/documents/{document_id}/content")

    def original(self, document_id: str) -> bytes:
        """Return the file that a document was read from."""
        query = {"original": "true"}
        return self._send("GET", f"/api/documents/{document_id}/content", params=query).content

    def remove(self, document_id: str) -> RemovalResult:
        """Remove a document; return what a search of all files found of it."""
        return self._call(RemovalResult, "DELETE", f"/api/documents/{document_id}")

    def search(self, query: str, **options: Any) -> PublicSearch:
        """Return passages, best first; options are the route's, such as ``limit``."""
        body = {"query": query, **options}
        return self._call(PublicSearch, "POST", "/api/documents/search", json=body)

    def context(self, question: str, **options: Any) -> ContextResult:
        """Return excerpts that fit a number of tokens; options as ``max_tokens``."""
        body = {"question": question, **options}
        return self._call(ContextResult, "POST", "/api/documents/context", json=body)

    def ask(self, question: str, **options: Any) -> Answer:
        """Return an answer with its evidence, or a refusal; options as ``persona``."""
        body = {"question": question, **options}
        return self._call(Answer, "POST", "/api/ask", json=body)

    def ask_events(self, question: str, **options: Any) -> Iterator[tuple[str, Any]]:
        """Yield name and data of each event while a question is answered, the answer last."""
        body = {"question": question, **options}
        with self._http.stream("POST", "/api/ask/stream", json=body) as response:
            if not response.is_success:
                response.read()
                raise _error(response)
            yield from ((one.event, one.json()) for one in httpx2.EventSource(response, None))

    def _call(self, kind: type[Answered], method: str, path: str, **request: Any) -> Answered:
        return adapter_of(kind).validate_json(self._send(method, path, **request).content)

    def _send(self, method: str, path: str, **request: Any) -> httpx2.Response:
        """Send a request, again where the server says that it is busy."""
        for pause in (True,) * (_ATTEMPTS - 1) + (False,):
            try:
                response = self._http.request(method, path, **request)
            except httpx2.TransportError as error:
                message = f"The service cannot be reached: {error}"
                raise ServiceError(0, message, hint="Is it running there?") from None
            if not (pause and response.status_code in _BUSY):
                break
            time.sleep(min(float(response.headers.get("Retry-After", "1")), _LONGEST_PAUSE))
        if not response.is_success:
            raise _error(response)
        return response


def _error(response: httpx2.Response) -> ServiceError:
    try:
        problem = response.json()
        places = (f"{one['place']}: {one['problem']}" for one in problem.get("errors", ()))
        message = "; ".join((str(problem["detail"]), *places))
        hint = str(problem.get("hint", ""))
        kind = str(problem["type"]).rpartition(":")[2]
    except (ValueError, KeyError, TypeError):  # something else stands between
        message, hint, kind = f"The service answered {response.status_code}.", "", ""
    return ServiceError(response.status_code, message, hint=hint, kind=kind)
