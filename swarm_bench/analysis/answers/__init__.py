"""What a session answers about its modes, from the comparison of them."""
