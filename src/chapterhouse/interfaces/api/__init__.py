"""The HTTP service: REST API, the protocol of OpenAI's clients, and MCP, behind one door."""
