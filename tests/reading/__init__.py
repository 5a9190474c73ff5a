"""Tests of reading; a package, so that they share the documents built in conftest."""
