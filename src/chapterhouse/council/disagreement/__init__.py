"""Who holds what, on what it rests, and who contradicts whom."""
