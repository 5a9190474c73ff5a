import re

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.interfaces.api.metrics import Metrics

_REQUESTS = st.lists(
    st.tuples(st.sampled_from(["GET", "POST", 'X"} 1\n']), st.floats(0, 20)), max_size=30
)


@given(_REQUESTS)
def test_every_request_is_counted_once_and_buckets_grow(requests: list[tuple[str, float]]) -> None:
    metrics = Metrics()
    for method, seconds in requests:
        metrics.count(method, "/api/x", 200, seconds)
    text = metrics.text()
    counted = re.findall(r'requests_total\{method="(\w+)",.*\} (\d+)\n', text)
    assert sum(int(number) for _, number in counted) == len(requests)
    assert {method for method, _ in counted} <= {"GET", "POST", "other"}
    buckets = [int(one) for one in re.findall(r"_bucket\{.*\} (\d+)\n", text)]
    assert buckets == sorted(buckets)
    assert not buckets or buckets[-1] == len(requests)


def test_what_goes_on_is_shown() -> None:
    metrics = Metrics()
    metrics.in_progress += 2
    assert metrics.text().endswith("chapterhouse_requests_in_progress 2\n")
