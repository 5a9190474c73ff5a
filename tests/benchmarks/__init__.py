"""Tests of the benchmarks' own measures."""
