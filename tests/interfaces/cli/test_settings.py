from typing import Any

from chapterhouse.interfaces.cli.settings import _value


def test_a_value_is_json_or_toml_or_a_text() -> None:
    for text, value in (
        ("5", 5),
        ("-0.5", -0.5),
        ("true", True),
        ("null", None),
        ("ranks", "ranks"),
        ("", ""),
        ('"5"', "5"),
        ('{"pdf": "semantic"}', {"pdf": "semantic"}),
        ('{pdf = "semantic"}', {"pdf": "semantic"}),
        ("1_000", 1_000),
        ("'text'", "text"),
        ("1\nother = 2", "1\nother = 2"),
    ):
        found = _value(text)
        assert (found, type(found)) == (value, type(value))


def test_from_default_to_change_and_back(chapterhouse: Any) -> None:
    chapterhouse("init")
    assert chapterhouse("settings", "list", "--changed").out == "Every setting has its default.\n"
    would = chapterhouse("settings", "set", "max_tokens", 3000, "--dry-run")
    assert would.code == 0
    assert "packing.maximum  3000   database" in would.out
    assert chapterhouse("settings", "list", "--changed").out == "Every setting has its default.\n"
    both = ("search.vector_threshold", -0.5, "chunk_size", 2000, "max_chunk_size", 3000)
    changed = chapterhouse("settings", "set", *both, "--json").data
    assert [(one["name"], one["value"]) for one in changed] == [
        ("search.vector_threshold", -0.5),
        ("chunking.target", 2000),
        ("chunking.maximum", 3000),
    ]
    listed = chapterhouse("settings", "list", "--changed", "--json").data
    assert {one["name"]: one["origin"] for one in listed} == {
        "search.vector_threshold": "database",
        "chunking.target": "database",
        "chunking.maximum": "database",
    }
    shown = chapterhouse("settings", "show", "chunk_size").out
    assert ("UTC by " in shown, "chapterhouse settings set" in shown) == (True, True)
    assert chapterhouse("settings", "reset", "max_chunk_size").code == 2
    assert chapterhouse("settings", "reset", "max_chunk_size", "chunk_size").code == 0
    assert chapterhouse("settings", "show", "chunk_size", "--json").data["origin"] == "default"


def test_what_cannot_be_done(chapterhouse: Any) -> None:
    chapterhouse("init")
    assert chapterhouse("settings", "set", "max_tokens").code == 2
    twice = chapterhouse("settings", "set", "search.limit", 1, "search.limit", 2)
    assert twice.code == 2
    assert "two values" in twice.err
    unknown = chapterhouse("settings", "set", "search.limt", 1)
    assert unknown.code == 2
    assert "Did you mean search.limit?" in unknown.err
    assert chapterhouse("settings", "set", "--dryrun", 1).code == 2
    refused = chapterhouse("settings", "set", "cloud.rclone", "/bin/sh")
    assert refused.code == 5
    assert "chapterhouse.toml" in refused.err
    assert chapterhouse("settings", "list", "--changed").out == "Every setting has its default.\n"


def test_documents_that_are_to_be_cut_again_are_counted(chapterhouse: Any, tmp_path: Any) -> None:
    (tmp_path / "bread.md").write_text("# Bread\n\nBread is baked on Fridays.")
    chapterhouse("add", tmp_path / "bread.md")
    chapterhouse("settings", "set", "packing.budgets", '{"letter": 70}')
    ask = ("context", "When is bread baked?", "--purpose")
    assert chapterhouse(*ask, "letter", "--json").data["maximum"] == 70
    unknown = chapterhouse(*ask, "code")
    assert (unknown.code, "there are: letter" in unknown.err) == (2, True)
    changed = chapterhouse("settings", "set", "chunking.strategy", "sentence")
    assert "1 document was cut by other settings" in changed.out
    assert "chapterhouse reindex" in changed.out
    assert "reindex" not in chapterhouse("settings", "set", "search.limit", 3).out
    assert "1 document cut by other settings: chapterhouse reindex" in chapterhouse("status").out
    assert "Would cut 1 document again." in chapterhouse("reindex", "--dry-run").out
    assert chapterhouse("reindex", "--json").data["cut_otherwise"] == 0
    assert "again" not in chapterhouse("reindex", "--dry-run").out


def test_a_file_that_the_database_would_win_over_is_not_written(chapterhouse: Any) -> None:
    chapterhouse("init")
    chapterhouse("settings", "set", "rag_rerank_enabled", "false")
    refused = chapterhouse("model", "use", "--reranker", "features")
    assert refused.code == 2
    assert "settings reset rerank.engine" in refused.err
    chapterhouse("settings", "reset", "rag_rerank_enabled")
    assert chapterhouse("model", "use", "--reranker", "features").code == 0
