"""From a question to hits: pure functions that search through what they are given."""
