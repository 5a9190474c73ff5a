import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.models.tool_runs import run_call

from chapterhouse.agents.council import Council
from chapterhouse.council.in_memory import (
    Item,
    build_index,
    normalize,
    search,
    texts_tool,
    tokenize,
)
from chapterhouse.errors import UsageError
from chapterhouse.models.tools import check_tools

TWELVE = "The warranty lasts for twelve months."
WARRANTY: Item = {"text": TWELVE, "meta": {"section": "warranty"}}
TEXTS: list[Item] = [
    "Refunds are paid within 30 days.",
    WARRANTY,
    "Parcels above 50 crowns are sent free.",
]
EXAMPLE = Path(__file__).parents[2] / "examples" / "texts_council.py"


def test_texts_are_found_with_meta_and_score_and_others_dropped() -> None:
    (found,) = search(build_index(TEXTS), "How long is the warranty?")
    assert (found.text, found.meta) == (TWELVE, {"section": "warranty"})
    assert found.score > 0
    assert search(build_index(TEXTS), "giraffes") == ()


def test_the_best_come_first_and_four_where_nobody_says_how_many() -> None:
    index = build_index([f"A berth of {'berth ' * number}" for number in range(1, 9)])
    scores = [one.score for one in search(index, "berth")]
    assert (len(scores), scores) == (4, sorted(scores, reverse=True))
    assert len(search(index, "berth", 7)) == 7


def test_other_languages_are_stemmed_as_such() -> None:
    index = build_index(["Die Fähren fahren um neun Uhr.", "潮が引くと島へ歩いて行ける。"])
    assert "Fähren" in search(index, "Wann fährt die Fähre?")[0].text
    assert "島" in search(index, "島へ行く")[0].text
    assert tokenize("The boats") == ["the", "boat"]


@pytest.mark.parametrize("item", ["  ", {"meta": {}}, {"text": "x", "metadata": {}}, {"text": 7}])
def test_what_is_no_text_is_refused(item: object) -> None:
    with pytest.raises(UsageError, match="no text for an index"):
        normalize(item)  # type: ignore[arg-type]


def test_the_tool_takes_query_and_top_k_and_refuses_the_rest() -> None:
    tool = texts_tool("search_policy", "Call this for refunds.", TEXTS, top_k=2)
    check_tools([tool])
    shown = run_call([tool], "search_policy", {"query": "warranty"}).result
    assert "1. section warranty (score " in shown
    assert "twelve months" in shown
    assert run_call([tool], "search_policy", {"query": "x", "limit": 1}).failed
    assert run_call([tool], "search_policy", {"top_k": 1}).failed


def test_tools_come_back_from_json_from_listed_modules_alone() -> None:
    module = ModuleType("harbour_tools")
    module.POLICY = texts_tool("search_policy", "Call this.", TEXTS)  # type: ignore[attr-defined]
    sys.modules["harbour_tools"] = module
    try:
        council = Council.new("returns").add_tool("search_graph").set_tools(module.POLICY)
        council = council.add_member(name="Support", tools=[module.POLICY, "search_documents"])
        text = council.to_json(["harbour_tools"])
        assert text.count('"harbour_tools:POLICY"') == 2
        assert Council.from_json(text, ["harbour_tools"]) == council
        with pytest.raises(UsageError, match="may not be imported"):
            Council.from_json(text)
        with pytest.raises(UsageError, match="no tool 'NOTHING'"):
            Council.from_json(text.replace("POLICY", "NOTHING"), ["harbour_tools"])
    finally:
        del sys.modules["harbour_tools"]


def test_the_example_runs_dry() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLE, "--dry-run"], capture_output=True, text=True, check=True
    )
    assert "lawyer: search_policy, search_rulings" in done.stdout
    assert "twelve months" in done.stdout
    assert runpy.run_path(str(EXAMPLE))["COUNCIL"].problems == ()
