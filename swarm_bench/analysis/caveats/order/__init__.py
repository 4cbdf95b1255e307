"""What the order in which modes ran, and the time that passed, did to their figures."""
