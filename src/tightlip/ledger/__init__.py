"""What several releases about the same people give away together."""
