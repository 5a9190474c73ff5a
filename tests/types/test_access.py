from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.types import AccessLevel, ApiKey, Grant, Scope

NAMES = ("alpha", "beta", "gamma")
LEVELS = st.sampled_from(AccessLevel)
LIMITS = st.none() | st.lists(st.sampled_from(NAMES), max_size=3).map(tuple)
GRANTS = st.builds(Grant, st.just("key ch_00000000"), LEVELS, LIMITS, LIMITS, LIMITS)


@given(GRANTS, LEVELS, st.sampled_from((*NAMES, "delta")))
def test_nothing_beyond_its_limits_is_permitted(
    grant: Grant, level: AccessLevel, name: str
) -> None:
    if grant.permits(level, name):
        assert grant.level.includes(level)
        assert grant.workspaces is None or name in grant.workspaces
    if grant.permits_persona(name):
        assert grant.personas is None or name in grant.personas
    if grant.scope.sees((name,)):
        assert grant.shelves is None or name in grant.shelves


@given(GRANTS, GRANTS, LEVELS, st.sampled_from((*NAMES, "delta")))
def test_what_includes_another_permits_all_that_the_other_does(
    grant: Grant, other: Grant, level: AccessLevel, name: str
) -> None:
    assert grant.includes(grant)
    if not grant.includes(other):
        return
    assert grant.permits(level, name) >= other.permits(level, name)
    assert grant.permits_persona(name) >= other.permits_persona(name)
    assert grant.scope.sees((name,)) >= other.scope.sees((name,))


@given(LEVELS)
def test_an_empty_limit_is_nothing_and_none_is_everything(level: AccessLevel) -> None:
    nothing = Grant("user ada", level, (), (), ())
    everything = Grant("user ada", level, None)
    assert not any(nothing.permits(AccessLevel.READ, name) for name in NAMES)
    assert not any(nothing.permits_persona(name) for name in NAMES)
    assert nothing.scope == Scope(())
    assert not nothing.is_whole
    assert everything.permits(level, "any")
    assert everything.is_whole
    assert everything.scope == Scope.everything()
    assert everything.includes(nothing)
    assert not nothing.includes(everything)


def test_a_key_is_active_until_it_is_revoked_or_expires() -> None:
    def key(expires: int = 0, revoked: int = 0) -> ApiKey:
        limits = (None, ("library",), None)
        return ApiKey("ch_00000000", "x", AccessLevel.READ, *limits, 1, "ada", expires, revoked)

    assert key().is_active(10**12)
    assert key(expires=10).is_active(9)
    assert not key(expires=10).is_active(10)
    assert not key(revoked=5).is_active(6)
    assert key().grant == Grant("key ch_00000000", AccessLevel.READ, None, ("library",))
