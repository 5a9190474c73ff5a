"""A council whose members search lists of texts that stand in this program.

    OPENROUTER_API_KEY=… python examples/texts_council.py openai/gpt-4o-mini
    python examples/texts_council.py --dry-run

All members may search the policies, the lawyer also rulings. With a key of OpenRouter they debate
in a temporary library; with --dry-run you see which tools each has and what one finds.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse import Library
from chapterhouse.agents.council import Council
from chapterhouse.council.in_memory import texts_tool
from chapterhouse.council.minutes.outline import minutes_markdown
from chapterhouse.council.tools import participant_tools

POLICIES = texts_tool(
    "search_policy",
    "Search the company's policies. Call this whenever the question touches refunds, returns, "
    "warranty or shipping.",
    [
        {
            "text": "Refunds are paid in full within 30 days of delivery.",
            "meta": {"section": "refunds", "source": "policy 3.2"},
        },
        {
            "text": "The warranty of standard products lasts for twelve months.",
            "meta": {"section": "warranty", "source": "policy 3.2"},
        },
        "Parcels above 50 crowns are sent free of charge.",
    ],
)
RULINGS = texts_tool(
    "search_rulings",
    "Search rulings of courts. Call this whenever liability or a customer's claim is in question.",
    ["A shop that sells to consumers is liable for defects for two years, whatever it promises."],
)
COUNCIL = (
    Council.new("returns", purpose="It settles what customers may claim.")
    .set_tools(POLICIES)
    .add_member(name="Support", instructions="Answer as the policies say, with their sections.")
    .add_member(name="Lawyer", instructions="Name what we are liable for.", tools=[RULINGS])
    .add_round("independent_analysis")
    .add_round("synthesis")
    .chair(name="Chair", instructions="Say what we answer the customer.")
)
QUESTION = "A kettle broke after 18 months. What may the customer claim?"


def dry_run() -> None:
    """Show what would be at hand, and that the council comes back from JSON with its tools."""
    again = Council.from_json(COUNCIL.to_json([__name__]), [__name__])
    for member, tools in participant_tools(again).items():
        print(f"{member}: {', '.join(tool.name for tool in tools)}")
    print(POLICIES.call({"query": QUESTION + " Is there a warranty?", "top_k": 1}))


def main(arguments: list[str]) -> None:
    """Hold the meeting, or show what it would have."""
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    if arguments == ["--dry-run"]:
        dry_run()
        return
    with TemporaryDirectory() as home:
        settings = f'[language_model]\nengine = "openrouter"\nmodel = "{arguments[0]}"\n'
        Path(home, "chapterhouse.toml").write_text(settings, "utf-8")
        with Library.open(home) as library:
            print(minutes_markdown(library.councils.convene(COUNCIL, QUESTION)))


if __name__ == "__main__":
    main(sys.argv[1:])
