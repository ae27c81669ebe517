"""The best mechanism under a guarantee, with a proof that it is the best."""
