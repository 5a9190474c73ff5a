"""The natural collection's modules are scripts beside each other, not a package."""

import sys
from pathlib import Path

_BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
sys.path += [str(_BENCHMARKS / "natural"), str(_BENCHMARKS)]
