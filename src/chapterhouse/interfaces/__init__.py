"""The ways into a library from outside: each reads input, calls one method, shows the result."""
