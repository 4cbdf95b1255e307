"""Where the groups of a session run: in this process, or by workers on other machines."""
