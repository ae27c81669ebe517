"""Numbers: reading them, keeping them exact, rounding them outward."""
