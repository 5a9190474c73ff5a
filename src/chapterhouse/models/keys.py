"""Keys of model services: where they are kept, and when they are used.

A key is read when a request is made and from nowhere but the environment or the system's keyring.
It is never part of a setting, an error, a log record or the representation of an object.
"""

import ipaddress
import os
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from chapterhouse.errors import EngineError, MissingExtraError, UsageError
from chapterhouse.loading import is_installed, optional

_KEYRING: Final = "A key in a keyring"  # needs an extra


@dataclass(frozen=True, slots=True)
class KeySource:
    """Where a key is kept: never the key itself. False where there is none.

    Attributes:
        variable: The name of an environment variable.
        entry: An entry of the system's keyring, ``SERVICE/USER``.
        section: The section of the settings that names it, for hints.
    """

    section: str
    variable: str = ""
    entry: str = ""

    def __bool__(self) -> bool:
        return bool(self.variable or self.entry)

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"keyring entry {self.entry}" if self.entry else f"variable {self.variable}"

    @property
    def setting(self) -> str:
        """The setting that names it."""
        return f"{self.section}.{'key_entry' if self.entry else 'key_variable'}"

    def read(self, place: str) -> str:
        """Return the key of the service at ``place``; nothing where there is no source.

        Raises:
            EngineError: it is not there, is not what keys are made of, or the keyring is closed.
            MissingExtraError: it is in a keyring, and the library for keyrings is not installed.
        """
        if not self:
            return ""
        key = (_from_keyring(self) if self.entry else os.environ.get(self.variable, "")).strip()
        if not key:
            raise EngineError(
                f"The {self.name}, which holds the key of {place}, is not set.",
                hint=f"{self._how_to_set()}, or leave {self.setting} empty.",
            )
        if not _may_be_key(key):
            raise EngineError(
                f"The {self.name} holds characters that no key has.",
                hint="Copy the key again, without line breaks.",
            )
        return key

    def _how_to_set(self) -> str:
        if not self.entry:
            return "Set it"
        service, user = _parts(self)
        return f"Set it with: keyring set {service} {user}"


def store_key(entry: str, key: str) -> None:
    """Put a key into the system's keyring, in place of one that is there.

    Args:
        entry: ``SERVICE/USER``.
        key: The key.

    Raises:
        UsageError: the entry has no user, or this is not what keys are made of.
        EngineError: there is no keyring, or it is closed.
        MissingExtraError: the library for keyrings is not installed.
    """
    keyring = _keyring()
    service, user = _parts(KeySource("language_model", entry=entry))
    if not (key and _may_be_key(key)):
        raise UsageError(
            "That is not a key: it is empty, or has characters that no key has.",
            hint="Copy the key again, without line breaks.",
        )
    try:
        keyring.set_password(service, user, key)
    except keyring.errors.KeyringError as error:
        reason = type(error).__name__  # see below
    else:
        return
    raise EngineError(
        f"The key cannot be stored in the keyring: {reason}.",
        hint="Unlock the keyring, or put the key into an environment variable.",
    )


def _may_be_key(text: str) -> bool:
    return text.isascii() and text.isprintable()


def check_key_source(source: KeySource, url: str) -> None:
    """Refuse what cannot work, or would show a key to others, before anything is asked.

    Raises:
        UsageError: a key would travel over an open network unencrypted, or the entry has no user.
        MissingExtraError: the library for keyrings is not installed.
    """
    if not source:
        return
    if source.entry:
        _parts(source)
        if not is_installed("keyring"):
            raise MissingExtraError(_KEYRING, "keyring")
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme != "https" and not _is_near(host):
        raise UsageError(
            f"The key in {source.entry or source.variable} would travel unencrypted to {host}.",
            hint=f"Use https in {source.section}.base_url, or leave "
            f"{source.setting.rpartition('.')[2]} empty.",
        )


def _parts(source: KeySource) -> tuple[str, str]:
    service, _, user = source.entry.rpartition("/")
    if not (service and user):
        raise UsageError(
            f"{source.setting} is no entry of a keyring: {source.entry}",
            hint="Write it as SERVICE/USER.",
        )
    return service, user


def _from_keyring(source: KeySource) -> str:
    keyring = _keyring()
    service, user = _parts(source)
    try:
        return str(keyring.get_password(service, user) or "")
    except keyring.errors.KeyringError as error:
        reason = type(error).__name__  # its text may come from any program that keeps keys
    raise EngineError(
        f"The {source.name} cannot be read: {reason}.",
        hint="Unlock the keyring, or name an environment variable in "
        f"{source.section}.key_variable instead of key_entry.",
    )


def _keyring() -> Any:
    optional("keyring.errors", _KEYRING, extra="keyring")  # which ``keyring`` names, once loaded
    return optional("keyring", _KEYRING, extra="keyring")


def _is_near(host: str) -> bool:
    """Whether a host is this machine or of the local network, as far as its name tells."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan", ".home.arpa"))
    return address.is_private or address.is_loopback
