"""What a sentence says, and what evidence says about it."""
