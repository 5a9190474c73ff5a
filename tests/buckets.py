"""A server of S3 for the tests: rclone's own, over a folder."""

import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest
from tests.clouds import BUCKET, KEY, SECRET

from chapterhouse.connectors.rclone_program import find_rclone
from chapterhouse.errors import ChapterhouseError

_STARTED: Final = re.compile(r"http://127\.0\.0\.1:\d+")


@dataclass(frozen=True)
class BucketServer:
    """Where a server is reached, and the folder in which its objects are files."""

    address: str
    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }


@contextmanager
def running_bucket() -> Iterator["BucketServer"]:
    """Start a server with an empty bucket. It ends with the block."""
    if find_spec("obstore") is None:
        pytest.skip("obstore is not installed")
    try:
        program = str(find_rclone())
    except ChapterhouseError:
        pytest.skip("rclone is not installed")
    with tempfile.TemporaryDirectory(prefix="chapterhouse-bucket-") as name:
        (Path(name) / BUCKET).mkdir()
        command = [
            *(program, "serve", "s3", name, "--addr=127.0.0.1:0", "--force-path-style=true"),
            *(f"--auth-key={KEY},{SECRET}", "--config="),
        ]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr is not None
                found = next(filter(None, map(_STARTED.search, server.stderr)))
                threading.Thread(target=server.stderr.read, daemon=True).start()
                yield BucketServer(found[0], Path(name) / BUCKET)
            finally:
                server.kill()
                server.wait(10)
