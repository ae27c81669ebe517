"""tightlip: what a data release gives away about a secret."""
