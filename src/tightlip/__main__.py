"""`python -m tightlip` is the program `tightlip`."""

from tightlip.cli.main import run

if __name__ == "__main__":
    run()
