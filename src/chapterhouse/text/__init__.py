"""Pure functions over text: no input, no output, no state."""
