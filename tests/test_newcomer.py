import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "chapterhouse"
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
TREE = PAGE.partition("## The tree")[2].partition("```\n")[2].partition("```")[0]


def test_every_package_and_module_has_its_line_in_the_tree() -> None:
    packages = [path.parent for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE]
    modules = [path.name for path in SOURCE.glob("*.py") if not path.name.startswith("__")]
    names = (*(f"{path.name}/" for path in packages), *modules)
    assert [name for name in names if f"{name} " not in TREE] == []


def test_every_module_named_exists() -> None:
    named = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", PAGE)
    assert len(named) > 20
    missing = [path for path in named if not any((at / path).exists() for at in (SOURCE, ROOT))]
    assert missing == []


def test_every_call_named_is_one_of_its_modules() -> None:
    steps = re.findall(r"^\| \d+ \| (.+?) \| .+? \| (.+?) \|$", PAGE, re.MULTILINE)
    assert [len(steps[:12]), len(steps[12:])] == [12, 10]
    for calls, modules in steps:
        texts = [(SOURCE / path).read_text("utf-8") for path in re.findall(r"`(.+?)`", modules)]
        for call in re.findall(r"`(.+?)`", calls):
            wanted = re.compile(rf"def {call.rpartition('.')[2]}\(")
            assert any(map(wanted.search, texts)), call
