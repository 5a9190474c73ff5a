import re

from hypothesis import given
from hypothesis import strategies as st
from tests.served import Served

from chapterhouse.interfaces.api.limits import Metrics
from chapterhouse.store.shared import SharedDatabase


def test_anyone_may_ask_whether_the_server_lives(served: Served) -> None:
    with served.client() as client:
        for path in ("/api/health", "/api/ready"):
            assert client.get(path).json()["status"] == "ok"
        assert client.get("/api/metrics").status_code == 401


def test_a_server_that_stops_takes_no_more_requests(served: Served) -> None:
    with served.client() as client:
        served.loop.call_soon_threadsafe(served.state.stopping.set)
        try:
            answer = client.get("/api/ready")
        finally:
            served.loop.call_soon_threadsafe(served.state.stopping.clear)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert client.get("/api/ready").status_code == 200


def test_metrics_count_by_route(served: Served) -> None:
    with served.client(served.key()) as client:
        client.get("/api/documents/some-id")
        text = client.get("/api/metrics").text
    route = "/api/documents/{document_id}"
    assert f'requests_total{{method="GET",route="{route}",status="404"}} ' in text


_REQUESTS = st.lists(
    st.tuples(st.sampled_from(["GET", "POST", 'X"} 1\n']), st.floats(0, 20)), max_size=30
)


@given(_REQUESTS)
def test_every_request_is_counted_once_and_buckets_grow(requests: list[tuple[str, float]]) -> None:
    metrics = Metrics(SharedDatabase())
    for _ in range(len(requests) + 2):
        metrics.begin()
    for method, seconds in requests:
        metrics.count(method, "/api/x", 200, seconds)
    text = metrics.text()
    assert text.endswith("chapterhouse_requests_in_progress 2\n")
    counted = re.findall(r'requests_total\{method="(\w+)",.*\} (\d+)\n', text)
    assert sum(int(number) for _, number in counted) == len(requests)
    assert {method for method, _ in counted} <= {"GET", "POST", "other"}
    buckets = [int(one) for one in re.findall(r"_bucket\{.*\} (\d+)\n", text)]
    assert buckets == sorted(buckets)
    assert not buckets or buckets[-1] == len(requests)
