import asyncio
from decimal import Decimal

from chapterhouse.models.metered import Metered
from chapterhouse.models.scripted import ScriptedModel, Step
from chapterhouse.types import OutputFormat, Usage


def used(cost: str | None) -> Step:
    price = None if cost is None else Decimal(cost)
    return Step("Text.", usage=Usage(1, 10, 5, price))


def test_every_use_is_counted_also_of_plain_functions() -> None:
    model = Metered(ScriptedModel([used("0.01"), used("0.02")]))
    assert model.complete("i", "p") == "Text."
    asyncio.run(model.write("i", "p"))

    assert model.usage == Usage(2, 20, 10, Decimal("0.03"))


def test_one_use_without_a_price_leaves_the_cost_unknown() -> None:
    model = Metered(ScriptedModel([used("0.01"), used(None), used("0.02")]))
    for _ in range(3):
        model.complete("i", "p")

    assert model.usage == Usage(3, 30, 15, None)


def test_the_form_of_an_answer_is_passed_on() -> None:
    scripted = ScriptedModel(["{}"])
    form = OutputFormat("turn", {"type": "object"})
    asyncio.run(Metered(scripted).write("i", "p", output=form))

    assert scripted.formats == [form]


def test_what_one_model_does_for_another_s_answer_is_counted_there_too() -> None:
    answering = Metered(ScriptedModel([used("0.01")]))
    rewriting = Metered(ScriptedModel([used("0.02")]), answering)
    rewriting.complete("i", "p")
    answering.complete("i", "p")

    assert rewriting.usage == Usage(1, 10, 5, Decimal("0.02"))
    assert answering.usage == Usage(2, 20, 10, Decimal("0.03"))
