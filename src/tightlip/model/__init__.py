"""What is released: priors, channels and noise. Immutable descriptions; computing is elsewhere."""
