"""Source files, cut at their definitions."""

import pytest

from chapterhouse.chunking.code import chunk_by_definition
from chapterhouse.chunking.limits import Limits
from chapterhouse.types import Body

LIMITS = Limits(target=120, minimum=10, maximum=600)

PYTHON = '''\
import math


# How far it is.
@cache
def distance(one: float, other: float) -> float:
    """Return the distance."""
    return math.fabs(one - other)


class Harbour:
    """A harbour."""

    def open(self) -> None:
        """Open the gate."""
        self.gate = "open"

    async def close(
        self,
        slowly: bool,
    ) -> None:
        self.gate = "closed"
'''
JAVASCRIPT = """\
import { sea } from "./sea.js";

/** Opens the gate. */
export async function openGate(gate) {
  if (gate.closed) {
    await gate.open();
  }
}

export const closeGate = (gate) => {
  gate.close();
  gate.lock();
};

class Harbour {
  enter(ship) {
    return this.places.push(ship);
  }
}
"""
GO = """\
package harbour

// Open opens the gate.
func (h *Harbour) Open(slowly bool) error {
\tfor _, gate := range h.gates {
\t\tgate.Open()
\t}
\treturn nil
}

type Harbour struct {
\tgates []Gate
\tname  string
}
"""
RUST = """\
use std::fmt;

#[derive(Debug)]
pub struct Harbour {
    gates: Vec<Gate>,
}

impl Harbour {
    /// Opens every gate.
    pub fn open(&mut self) {
        self.gates.iter_mut().for_each(Gate::open);
    }
}
"""
C = """\
#include "harbour.h"

/* Open the gate. */
int open_gate(struct gate *gate, int slowly)
{
    if (gate->open) {
        return 0;
    }
    return gate_open(gate, slowly);
}

static void close_gate(struct gate *gate) {
    gate->open = 0;
    gate->locked = 1;
}
"""
JAVA = """\
package harbour;

public class Harbour {
    /** Opens the gate. */
    @Override
    public void open(boolean slowly) throws GateException {
        gate.open(slowly);
    }

    private static int count(List<Gate> gates) {
        return gates.size();
    }
}
"""


def chunks(text: str, limits: Limits = LIMITS) -> list[str]:
    return [text[span.start : span.end] for span in chunk_by_definition(Body(text), limits)]


@pytest.mark.parametrize(
    ("text", "first_lines"),
    [
        (PYTHON, ["# How far it is.", "class Harbour:", "    async def close("]),
        (JAVASCRIPT, ["/** Opens the gate. */", "export const closeGate", "class Harbour {"]),
        (GO, ["// Open opens the gate.", "type Harbour struct {"]),
        (RUST, ["#[derive(Debug)]", "impl Harbour {"]),
        (C, ["/* Open the gate. */", "static void close_gate"]),
        (JAVA, ["    private static int count"]),
    ],
    ids=["python", "javascript", "go", "rust", "c", "java"],
)
def test_a_definition_starts_a_chunk_with_what_is_attached(
    text: str, first_lines: list[str]
) -> None:
    found = chunks(text)
    for line in first_lines:
        assert any(chunk.startswith(line) for chunk in found), (line, found)


@pytest.mark.parametrize("text", [PYTHON, JAVASCRIPT, GO, RUST, C, JAVA])
def test_no_chunk_starts_with_what_closes(text: str) -> None:
    assert not [chunk for chunk in chunks(text) if chunk.lstrip().startswith(("}", ")"))]


def test_a_chunk_names_the_definitions_around_it() -> None:
    spans = chunk_by_definition(Body(PYTHON), LIMITS)
    (close,) = [span for span in spans if PYTHON[span.start :].startswith("    async def close")]
    (whole,) = close.parents
    assert PYTHON[slice(*whole)].startswith("class Harbour:")


def test_a_long_function_is_cut_inside_and_knows_itself() -> None:
    lines = "".join(f"    step_{n} = work({n})\n" + "\n" * (n % 4 == 3) for n in range(40))
    text = f"def long() -> None:\n{lines}"
    spans = chunk_by_definition(Body(text), LIMITS)
    assert len(spans) > 3
    assert all(span.parents == ((0, len(text)),) for span in spans)
    inner = [text[span.start - 2 : span.start] for span in spans[1:]]
    assert inner.count("\n\n") > len(inner) / 2  # behind a blank line


def test_what_is_no_program_is_cut_all_the_same() -> None:
    text = "}{ " * 400 + "\n" + "(((" * 300
    assert "".join(chunks(text)) == text
