"""From results to what people and programs read: text and JSON."""
