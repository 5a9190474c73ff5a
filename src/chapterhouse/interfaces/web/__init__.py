"""The page: what people open in a browser. Made by the server, whole without JavaScript."""
