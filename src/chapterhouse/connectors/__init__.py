"""Where documents come from: folders on this machine."""
