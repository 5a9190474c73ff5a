"""From a question to an answer: whose it is, who writes it, what is remembered of it."""
