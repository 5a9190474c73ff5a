"""The protocol of OpenAI's clients: models, chat completions, responses and embeddings."""
