from typing import Any

import openai
import pytest
from openai.types.responses import Response
from tests.rooms import KNOTS, SPEED


def test_a_response_names_its_sources(client: openai.OpenAI) -> None:
    response = client.responses.create(
        model="chapterhouse", input=SPEED, instructions="Be a pirate."
    )
    Response.model_validate(response.model_dump())
    assert f"{KNOTS}[1]" in response.output_text
    content: Any = response.output[0]
    for cited in content.content[0].annotations:
        assert response.output_text[cited.start_index : cited.end_index] == "[1]"
    assert content.content[0].annotations
    assert response.chapterhouse["outcome"] == "answer"  # type: ignore[attr-defined]
    assert response.usage
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens


def test_a_response_goes_on_from_a_conversation(client: openai.OpenAI) -> None:
    first = client.responses.create(model="chapterhouse", input="When does the gate close?")
    items: Any = [
        {"role": "user", "content": "When does the gate close?"},
        *[item.model_dump() for item in first.output],
        {"role": "user", "content": [{"type": "input_text", "text": "And in April?"}]},
    ]
    second = client.responses.create(model="persona/maria", input=items)
    assert second.output_text.startswith("Taken as: And in April? (")


def test_a_stream_of_events_comes_to_the_same(client: openai.OpenAI) -> None:
    whole = client.responses.create(model="chapterhouse", input=SPEED)
    with client.responses.stream(model="chapterhouse", input=SPEED) as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert final.output_text == whole.output_text
    deltas = [one.delta for one in events if one.type == "response.output_text.delta"]
    assert "".join(deltas) == whole.output_text
    assert [one.sequence_number for one in events] == list(range(len(events)))
    assert events[0].type == "response.created"
    assert events[-1].type == "response.completed"
    assert events[-1].response.chapterhouse == whole.chapterhouse  # type: ignore[attr-defined]


def test_nothing_is_stored(client: openai.OpenAI) -> None:
    refused: tuple[dict[str, Any], ...] = (
        {"previous_response_id": "resp_1"},
        {"conversation": "conv_1"},
        {"background": True},
        {"input": [{"type": "item_reference", "id": "msg_1"}]},
        {"input": []},
        {"text": {"format": {"type": "json_object"}}},
    )
    for more in refused:
        with pytest.raises(openai.BadRequestError):
            client.responses.create(model="chapterhouse", **{"input": SPEED, **more})
