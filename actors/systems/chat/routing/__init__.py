"""What a message asks for, and who answers it: the router, its examples and what they were trained to."""
