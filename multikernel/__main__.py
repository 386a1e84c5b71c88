"""``python -m multikernel``: the command line."""

from multikernel.cli import main

if __name__ == "__main__":
    main()
