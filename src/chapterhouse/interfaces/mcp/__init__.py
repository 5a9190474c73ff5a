"""The server for clients that speak the Model Context Protocol, over stdio or HTTP."""
