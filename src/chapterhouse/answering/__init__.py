"""From hits to an answer in which every sentence carries a citation that can be checked."""
