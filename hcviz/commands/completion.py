"""The command ``hcviz completion``, which prints a script for a shell."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import shtab

import hcviz
from hcviz.datasets import at_hand

SHELLS = ("bash", "zsh", "fish")


def completion(make_parser: Callable[[], argparse.ArgumentParser], shell: str) -> str:
    """Return a script that completes commands, options, methods and files.

    Parameters
    ----------
    make_parser : makes the parser whose words are completed
    shell : one of :data:`SHELLS`
    """
    parser = make_parser()
    commands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for each in commands.choices.values():
        for action in each._actions:
            if action.dest == "method":
                action.choices = hcviz.algorithms()
            elif action.dest == "data":
                action.complete = shtab.FILE
                if shell == "fish":  # fish adds files to these
                    action.choices = list(at_hand())
                    del action.complete
            elif action.type is not None and "path" in getattr(action.type, "__name__", "").lower():
                action.complete = shtab.FILE
    return str(shtab.complete(parser, shell))


__all__ = ["SHELLS", "completion"]
