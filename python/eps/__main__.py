"""`python3 -m eps` is the program `eps`."""
import os
import sys


def main() -> None:
    """Becomes the program that was built with this package."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "eps")
    sys.stdout.flush()
    os.execv(program, ["eps", *sys.argv[1:]])


if __name__ == "__main__":
    main()
