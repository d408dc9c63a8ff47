"""The command line as ``python -m hcviz``."""

import sys

from hcviz.cli import main

if __name__ == "__main__":
    sys.exit(main())
