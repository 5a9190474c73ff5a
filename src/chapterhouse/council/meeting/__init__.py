"""A council meets: seats, rounds, turns by quotation or by models, minutes."""
