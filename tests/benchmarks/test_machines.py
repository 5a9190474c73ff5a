from collections import Counter

import machines


def test_what_two_machines_acknowledged_outlives_kills_of_whatever_they_rest_on() -> None:
    found = machines.run(1, Counter(backend=3, postmaster=1, worker=1))
    assert found.faults == []
    assert len(found.acknowledged) >= 3
    assert sum(number for what, number in found.counts.items() if what.startswith("kills")) == 5
