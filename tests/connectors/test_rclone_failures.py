import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.connectors.rclone_failures import Failure, error_of, kind_of, reason_of, redacted
from chapterhouse.connectors.rclone_program import Finished
from chapterhouse.errors import EngineError, NotFoundError, RefusedError

# As rclone 1.75 writes them.
UNKNOWN = (
    '2026/11/28 05:30:21 CRITICAL: Failed to create file system for "nope:": '
    'didn\'t find section in config file ("nope")\n'
)
NO_FOLDER = (
    "2026/11/28 05:30:21 ERROR : error listing: directory not found\n"
    "2026/11/28 05:30:21 NOTICE: Failed to lsjson with 2 errors: last error was: "
    "error in ListJSON: directory not found\n"
)
KEY = (
    "2026/11/28 05:30:21 NOTICE: Failed to lsjson: error in ListJSON: operation error S3: "
    "ListObjectsV2, https response error StatusCode: 403, RequestID: , HostID: , api error "
    "InvalidAccessKeyId: The Access Key Id you provided does not exist in our records.\n"
)
REFUSED = (
    "2026/11/28 05:33:12 NOTICE: Failed to lsjson with 2 errors: last error was: error in ListJSON:"
    ' couldn\'t list files: Propfind "http://user:pass@127.0.0.1:1/a?sig=5": '
    "dial tcp 127.0.0.1:1: connect: connection refused\n"
)
RATE = "2026/11/28 05:33:12 ERROR : googleapi: Error 403: User Rate Limit Exceeded., userRate\n"
EXPIRED = (
    '2026/11/28 05:33:12 CRITICAL: Failed to create file system for "gdrive:": couldn\'t find root '
    'directory ID: Get "https://www.googleapis.com/drive/v3/files/root?alt=json": couldn\'t fetch '
    'token: invalid_grant: maybe token expired? - try refreshing with "rclone config reconnect '
    'gdrive:"\n'
)
ENCRYPTED = "CRITICAL: unable to decrypt configuration and not allowed to ask for password\n"


@pytest.mark.parametrize(
    ("code", "errors", "kind", "raised", "says"),
    [
        (1, UNKNOWN, Failure.UNKNOWN_REMOTE, NotFoundError, "no remote 'gdrive'"),
        (3, NO_FOLDER, Failure.NOT_FOUND, NotFoundError, "no folder 'gdrive:a/b'"),
        (1, KEY, Failure.LOGIN, RefusedError, "refuses access"),
        (1, EXPIRED, Failure.LOGIN, RefusedError, "refuses access"),
        (5, REFUSED, Failure.NETWORK, EngineError, "cannot be reached"),
        (1, RATE, Failure.BUSY, EngineError, "no more requests"),
        (1, ENCRYPTED, Failure.ENCRYPTED, RefusedError, "encrypted"),
        (5, "", Failure.NETWORK, EngineError, "cannot be reached"),
        (7, "2026/11/28 05:33:12 ERROR : odd\n", Failure.OTHER, EngineError, "'gdrive:a/b': odd."),
    ],
)
def test_a_failure_says_what_it_was_and_what_to_do(
    code: int, errors: str, kind: Failure, raised: type[Exception], says: str
) -> None:
    run = Finished(code, errors)
    assert kind_of(run) is kind
    error = error_of(run, "gdrive:a/b")
    assert type(error) is raised
    assert says in error.message
    assert error.hint


def test_a_run_without_end_is_the_networks() -> None:
    run = Finished(-15, "", timed_out=True)
    assert kind_of(run) is Failure.NETWORK
    assert "took too long" in error_of(run, "a:").message


def test_a_reason_has_no_address_in_whole() -> None:
    assert reason_of(Finished(5, REFUSED)) == (
        'error in ListJSON: couldn\'t list files: Propfind "http://127.0.0.1:1/…": '
        "dial tcp 127.0.0.1:1: connect: connection refused."
    )


def test_a_reason_steers_no_terminal() -> None:
    assert "\x1b" not in reason_of(Finished(1, "odd \x1b[2J\u202e thing\n"))


@given(
    secret=st.text("abcdefghijklmnopqrstuvwxyzABCDEFGH0123456789", min_size=8, max_size=80),
    form=st.sampled_from(
        [
            "https://user:{}@example.org/dav failed",
            "https://example.org/x?sig={}&b=2",
            "the password = {} is wrong",
            'token: "{}"',
            "Authorization: Bearer {}",
            "secret_access_key={}",
        ]
    ),
)
def test_no_secret_is_repeated(secret: str, form: str) -> None:
    assert secret not in redacted(form.format(f"Zq9{secret}"))
