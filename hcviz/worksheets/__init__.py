"""Worksheets for a class: blank trees and questions on paper, with answers."""

from hcviz.worksheets.worksheet import worksheet

__all__ = ["worksheet"]
