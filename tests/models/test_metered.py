import asyncio

from chapterhouse.models.metered import Metered
from chapterhouse.models.scripted import ScriptedModel, Step
from chapterhouse.types import OutputFormat, Usage

USED = Step("Text.", usage=Usage(1, 10, 5))


def test_every_use_is_counted_also_of_plain_functions() -> None:
    model = Metered(ScriptedModel([USED, USED]))
    assert model.complete("i", "p") == "Text."
    asyncio.run(model.write("i", "p"))

    assert model.usage == Usage(2, 20, 10)


def test_the_form_of_an_answer_is_passed_on() -> None:
    scripted = ScriptedModel(["{}"])
    form = OutputFormat("turn", {"type": "object"})
    asyncio.run(Metered(scripted).write("i", "p", output=form))

    assert scripted.formats == [form]


def test_what_one_model_does_for_another_s_answer_is_counted_there_too() -> None:
    answering = Metered(ScriptedModel([USED]))
    rewriting = Metered(ScriptedModel([USED]), answering)
    rewriting.complete("i", "p")
    answering.complete("i", "p")

    assert rewriting.usage == Usage(1, 10, 5)
    assert answering.usage == Usage(2, 20, 10)
