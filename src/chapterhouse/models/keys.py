"""Keys of model services: where they are kept, and when they are used.

A key is read when a request is made, from the environment, the system's keyring or a file. It is
never part of a setting, an error, a log record or the representation of an object.
"""

import ipaddress
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from chapterhouse.errors import EngineError, MissingExtraError, UsageError, optional

_KEYRING: Final = "A key in a keyring"  # needs an extra
_LONGEST: Final = 10_000  # characters of a file


@dataclass(frozen=True, slots=True)
class KeySource:
    """Where a key is kept: never the key itself. False where there is none.

    Attributes:
        section: The section of the settings that names it, for hints.
        entry: An entry of the system's keyring, ``SERVICE/USER``.
        file: The path of a file that holds nothing else.
    """

    section: str
    variable: str = ""
    entry: str = ""
    file: str = ""

    def __bool__(self) -> bool:
        return bool(self.variable or self.entry or self.file)

    @property
    def name(self) -> str:
        """What it is called in messages."""
        if self.entry:
            return f"keyring entry {self.entry}"
        return f"file {self.file}" if self.file else f"variable {self.variable}"

    @property
    def setting(self) -> str:
        """The setting that names it."""
        kind = "entry" if self.entry else "file" if self.file else "variable"
        return f"{self.section}.key_{kind}"

    @property
    def hint(self) -> str:
        """What to do where a service refuses the key."""
        if self:
            return f"Does the {self.name} hold a key that is valid there?"
        return f"Name the environment variable that holds the key in {self.section}.key_variable."

    def check(self, url: str) -> None:
        """Refuse what cannot work, or would show a key to others, before anything is asked.

        Raises:
            UsageError: the key would travel over an open network unencrypted, or the entry has
                no user.
            MissingExtraError: it is in a keyring, and the library for keyrings is not installed.
        """
        if self.entry:
            self._parts()
            if find_spec("keyring") is None:
                raise MissingExtraError(_KEYRING, "keyring")
        parts = urlsplit(url)
        if self and parts.scheme != "https" and not _is_near(parts.hostname or ""):
            raise UsageError(
                f"The key in the {self.name} would travel unencrypted to {parts.hostname}.",
                hint=f"Use https in {self.section}.base_url, or leave {self.setting} empty.",
            )

    def read(self, place: str) -> str:
        """Return the key of the service at ``place``; nothing where there is no source.

        Raises:
            EngineError: it is not there, is not what keys are made of, or cannot be read.
            MissingExtraError: it is in a keyring, and the library for keyrings is not installed.
        """
        if not self:
            return ""
        key = self._read().strip()
        if not key:
            how = f" with: keyring set {' '.join(self._parts())}" if self.entry else ""
            raise EngineError(
                f"The {self.name}, which holds the key of {place}, is not set.",
                hint=f"Set it{how}, or leave {self.setting} empty.",
            )
        _require_key(key, f"The {self.name} holds characters that no key has.")
        return key

    def _read(self) -> str:
        if self.variable:
            return os.environ.get(self.variable, "")
        try:
            if self.file:
                with Path(self.file).expanduser().open(encoding="utf-8") as file:
                    return file.read(_LONGEST)
            return str(_keyring().get_password(*self._parts()) or "")
        except MissingExtraError:
            raise
        except Exception as error:  # noqa: BLE001 - any program may keep keys, and quote them
            reason = type(error).__name__
        raise EngineError(
            f"The {self.name} cannot be read: {reason}.",
            hint=f"Unlock it, or name an environment variable in {self.section}.key_variable.",
        )

    def _parts(self) -> tuple[str, str]:
        service, _, user = self.entry.rpartition("/")
        if not (service and user):
            raise UsageError(
                f"{self.setting} is no entry of a keyring: {self.entry}",
                hint="Write it as SERVICE/USER.",
            )
        return service, user

    def store(self, key: str) -> None:
        """Put a key into the entry of the system's keyring, in place of one that is there.

        Raises:
            EngineError: this is not what keys are made of, or the keyring is closed or none.
            MissingExtraError: the library for keyrings is not installed.
        """
        _require_key(key, "That is not a key: it is empty, or has characters that no key has.")
        keyring = _keyring()
        try:
            keyring.set_password(*self._parts(), key)
        except keyring.errors.KeyringError as error:
            reason = type(error).__name__
        else:
            return
        raise EngineError(
            f"The key cannot be stored in the keyring: {reason}.",
            hint="Unlock the keyring, or put the key into an environment variable.",
        )


def _require_key(text: str, otherwise: str) -> None:
    if not (text and text.isascii() and text.isprintable()):
        raise EngineError(otherwise, hint="Copy the key again, without line breaks.")


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
