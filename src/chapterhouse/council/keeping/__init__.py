"""What is kept of meetings: transcripts, and the memory of members and councils."""
