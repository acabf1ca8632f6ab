"""``python -m voilattice`` is the command `voilattice`."""

from voilattice.cli import main

if __name__ == "__main__":
    main()
