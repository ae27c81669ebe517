"""`python -m tightlip` is the program `tightlip`."""

from tightlip.cli.interrupt import run

if __name__ == "__main__":
    run()
