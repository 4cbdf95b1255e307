"""What can be read out of source code, and out of texts about it."""
