"""Credentials are found by their forms, and examples are not, in time that grows with length."""

import itertools
import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.secrets import (
    describe_credentials,
    find_credentials,
    mask_credentials,
)

HOSTILE: dict[str, Callable[[int], str]] = {
    "prefixes": lambda size: "AKIA" * (size // 4),
    "tokens": lambda size: "sk-" * (size // 3),
    "parts of tokens": lambda size: "eyJ" + "eyJ." * (size // 4),
    "headers of tokens": lambda size: " eyJaaaaaaaaaaaa.eyJ" * (size // 20),
    "addresses": lambda size: "a://a:" * (size // 6),
    "one address": lambda size: "a://" + "a:" * (size // 2),
    "assignments": lambda size: "token=" * (size // 6),
    "one assignment": lambda size: "password = " + "aB3!" * (size // 4),
    "words": lambda size: "passwordtokensecret" * (size // 19),
    "beginnings of keys": lambda size: "-----BEGIN PRIVATE KEY-----" * (size // 27),
    "beginnings and ends": lambda size: (
        "-----BEGIN PRIVATE KEY-----\n" * (size // 56)
        + "-----END PRIVATE KEY-----\n" * (size // 56)
    ),
    "capitals": lambda size: "-----BEGIN " + "A" * size,
    "found everywhere": lambda size: "AKIAQ3EGRXJ7VMB2KLTD " * (size // 21),
}


@pytest.mark.parametrize(
    "text",
    [
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        (
            "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6Ikp"
            "vaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
        ),
        "postgres://user:password@localhost:5432/db",
        "https://user:pass@example.com/path",
        "password: ${DB_PASSWORD}",
        "password = os.environ['PASSWORD']",
        "api_key = get_api_key2(settings)",
        "api_key: your-api-key-1234567890abcdef",
        "token: xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "max_tokens: 4096, min_tokens=12345678",
        "The secret: nobody knows where it is kept.",
        "token = self.config.token_from_header2",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQ...\n-----END PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n" + "MIIBIjANBgkqhkiG9w0BAQEFAAOC\n" * 8,
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "Passwort: siehe Seite 12",
        "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
    ],
)
def test_examples_and_code_are_no_credentials(text: str) -> None:
    assert find_credentials(text) == ()


def test_what_has_a_form_of_its_own_is_called_so_in_an_assignment() -> None:
    (found,) = find_credentials('api_key = "AKIAQ3EGRXJ7VMB2KLTD"')
    assert found.kind == "AWS key"


def test_kinds_are_counted_and_nothing_else_is_said() -> None:
    text = "AKIAQ3EGRXJ7VMB2KLTD and AKIAZ5EGRXJ7VMB2KLTD; password = 'kT7#pQ2!xW9z'"
    assert describe_credentials(find_credentials(text)) == "3 credentials: 2 × AWS key, password"


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_megabyte_costs_no_more_than_its_length(name: str) -> None:
    # Catastrophic patterns would take hours; this only has to come to its end.
    text = HOSTILE[name](2**20)
    found = find_credentials(text)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


@given(
    st.text(st.sampled_from(f"{string.ascii_letters}{string.digits}=:/@.-_ \n\"'█é"), max_size=400)
)
def test_spans_lie_in_the_text_in_order_and_masked_text_has_none(text: str) -> None:
    found = find_credentials(text)
    edges = [edge for one in found for edge in (one.start, one.end)]
    assert edges == sorted(edges)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert len(mask_credentials(text, found)) == len(text)
