import pytest

from chapterhouse.models.built_in import BuiltInEncoder
from chapterhouse.models.cards import Card, card_named, card_of, display_name, known_cards
from chapterhouse.settings import EmbeddingSettings


@pytest.mark.parametrize("card", known_cards(), ids=lambda card: card.name)
def test_a_card_is_whole(card: Card) -> None:
    found = card_named(card.name.upper())
    assert found is not None
    assert found is card
    assert found.licence
    assert found.dimensions > 0
    assert 0 <= found.fusion.weight <= 1
    assert 0 <= found.fusion.floor < found.fusion.alone < found.fusion.ceiling <= 1


def test_the_card_of_the_encoder_in_the_box_is_its_own() -> None:
    card = card_of(BuiltInEncoder().fingerprint)
    assert card.name == "built-in"
    assert card.dimensions == BuiltInEncoder.dimensions


@pytest.mark.parametrize(
    ("fingerprint", "name"),
    [
        ("folder/MiniLM-L6-H384-uncased/d7a448150752de61/mean/384", "all-MiniLM-L6-v2"),
        ("folder/multilingual-e5-small/0123456789abcdef/mean/384", "multilingual-e5-small"),
        ("openai/nomic-embed-text:latest/768/question='search_query: '", "nomic-embed-text"),
        ("openai/nomic-embed-text@2/768", "nomic-embed-text"),
        ("openai/sentence-transformers/all-MiniLM-L6-v2/384", "all-MiniLM-L6-v2"),
        ("openai/text-embedding-3-small/1536", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_fingerprint_leads_to_its_card(fingerprint: str, name: str) -> None:
    assert card_of(fingerprint).name == name


def test_an_unknown_encoder_counts_little() -> None:
    cautious = card_of("folder/mine/1/mean/8").fusion
    assert cautious.weight <= min(card.fusion.weight for card in known_cards())
    settings = EmbeddingSettings(engine="folder", folder="/models/mine")
    assert display_name(settings, "folder/mine/1/mean/8") == "mine"
