"""What a library offers, by what it is about."""
