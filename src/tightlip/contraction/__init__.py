"""How much closer two distributions come when they pass through a private channel."""
