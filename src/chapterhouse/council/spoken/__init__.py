"""What a model says in a round: the form it is asked for, and how its text is read."""
