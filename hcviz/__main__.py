"""``python -m hcviz``: the command line."""

import sys

from hcviz.cli import main

if __name__ == "__main__":
    sys.exit(main())
