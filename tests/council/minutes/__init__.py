"""Tests of minutes as they are read."""
