"""What is added to a session when it is over."""
