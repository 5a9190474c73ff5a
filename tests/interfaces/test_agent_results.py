from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.interfaces.agent_results import with_transcript


def test_what_a_meeting_writes_is_thrown_away_unless_it_is_remembered() -> None:
    remembered = MeetingOptions(model="none")
    with with_transcript(remembered) as options:
        assert options is remembered
    with with_transcript(MeetingOptions(remember=False, model="none")) as options:
        assert options.transcript is not None
        assert options.transcript.parent.is_dir()
        assert options.model == "none"
    assert not options.transcript.parent.exists()
