"""The command ``hcviz conformance``: run the checks that every method must pass."""

from __future__ import annotations

import argparse
import json

from hcviz.conformance import conformance, load_methods


def check_methods(options: argparse.Namespace) -> int:
    """Print a line for each check of each method; return 1 if a check fails, else 0."""
    found = []
    for each in conformance(load_methods(options.place)):
        found.append(each)
        if not options.json:
            print(f"{each.method}: {each.check}: {each.fault or 'passed'}", flush=True)
    failed = [each for each in found if not each.passed]
    if options.json:
        rows = [{"method": e.method, "check": e.check, "fault": e.fault} for e in found]
        print(json.dumps(rows))
    else:
        print(f"{len(found) - len(failed)} of {len(found)} checks passed.")
    return int(bool(failed))


__all__ = ["check_methods"]
