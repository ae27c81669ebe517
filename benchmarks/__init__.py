"""Claims about speed, each a ratio measured in one run. `make bench` prints them all."""
