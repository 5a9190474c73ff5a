import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.isolation_walk import Walk

pytestmark = pytest.mark.usefixtures("each_store")


@pytest.mark.large
@pytest.mark.timeout(600)
def test_a_random_walk_sees_no_secret_and_no_score_moves(tmp_path: Path) -> None:
    with ExitStack() as stack:
        walk = Walk(tmp_path, seed=1, stack=stack)
        for _ in range(3):
            walk._change_of_theirs()
        found = walk.run(1_000 if "CHAPTERHOUSE_LARGE" in os.environ else 120)
    assert found.leaks == []
    assert found.moved == []
    assert found.server_errors == []
    assert found.changes >= 3
    assert found.sighted >= 3  # by who may see them
    assert found.statuses[200] > 25  # most of it was answered
    assert walk.log_lines > 100
