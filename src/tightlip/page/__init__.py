"""The page in the browser: from a table to a safe file, on one's own machine, thin over the library."""
