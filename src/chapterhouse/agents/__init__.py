"""Persona folders: who answers, from what, and how their documents are kept."""
