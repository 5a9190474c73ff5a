from pathlib import Path

from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.interfaces.agent_results import council_result, persona_result, with_transcript
from chapterhouse.library import Library


def test_what_a_meeting_writes_is_thrown_away_unless_it_is_remembered() -> None:
    remembered = MeetingOptions(model="none")
    with with_transcript(remembered) as options:
        assert options is remembered
    with with_transcript(MeetingOptions(remember=False, model="none")) as options:
        assert options.transcript is not None
        assert options.transcript.parent.is_dir()
        assert options.model == "none"
    assert not options.transcript.parent.exists()


def test_what_cannot_be_used_says_why_without_a_path(tmp_path: Path) -> None:
    with Library.open(tmp_path / "home") as library:
        for kind, file in (("personas", "persona.config.json"), ("councils", "council.json")):
            broken = library.home / kind / "torn"
            broken.mkdir(parents=True)
            (broken / file).write_text("{")
        (persona,), (council,) = library.personas.all(), library.councils.all()
        results = (
            persona_result(persona, library.personas),
            council_result(council, library.councils),
        )
        for shown in results:
            assert (shown.slug, shown.usable, shown.documents) == ("torn", False, 0)
            assert shown.problem
            assert str(tmp_path) not in shown.problem
