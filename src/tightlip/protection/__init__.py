"""The best truthful release of a table under a budget: what may be published for each person, proved and written."""
