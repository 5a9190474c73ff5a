"""The benchmarks are scripts beside each other, not a package."""

import sys
from pathlib import Path

_BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path += [str(_BENCHMARKS / name) for name in ("encoder", "natural", "soak", "")]
