"""What each member's documents say on each thing that a question asks, and how that compares."""
