"""`python -m inhabit`: the command `inhabit`."""

from inhabit.cli import main

if __name__ == "__main__":
    main()
