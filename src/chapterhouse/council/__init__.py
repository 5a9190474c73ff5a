"""Councils: members who have read different things, and how they meet."""
