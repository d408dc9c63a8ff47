"""Food100: crowd answers about the taste of a hundred dishes, from the folder that they come in."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from hcviz.core.errors import InvalidData
from hcviz.core.triplets import Comparisons
from hcviz.datasets.dataset import Dataset
from hcviz.datasets.pictures import thumbnail


def food(file: Path) -> Dataset:
    """The data set of ``all-triplets.csv``: "a; b; c" says that the dish of picture a tastes more
    like b's than like c's. Repeats and contradictions are kept.

    Items are all pictures that are named there or lie in ``images`` beside it, by file name; a
    dish's name comes from ``ingredients.json``. Both may be missing. Raises :class:`InvalidData`
    and, for an answer that compares a dish with itself, :class:`InvalidConstraint`.
    """
    with open(file, newline="", encoding="utf-8") as lines:
        named = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=";") if row]
    for line, row in enumerate(named, 1):
        if len(row) != 3 or not all(row):
            raise InvalidData(
                f"Answer {line} of {file} should name three pictures, divided by semicolons, and "
                f"names {sum(map(bool, row))}.",
                "This is all-triplets.csv of the Food100 data, unpacked.",
            )
    folder = file.parent
    shown = {f"images/{picture.name}" for picture in folder.glob("images/*.jpg")}
    items = sorted(shown.union(*named))
    place = {name: at for at, name in enumerate(items)}
    rows = np.array([[place[name] for name in row] for row in named], np.int32).reshape(-1, 3)
    told = folder / "ingredients.json"
    dishes = json.loads(told.read_text(encoding="utf-8")) if told.is_file() else {}
    labels = []
    for name in items:
        dish = dishes.get(Path(name).name)
        said = dish.get("name") if isinstance(dish, dict) else None
        labels.append(str(said or Path(name).stem).strip())
    twice = {label for label in labels if labels.count(label) > 1}
    pictures = [folder / name for name in items]
    return Dataset(
        name="food",
        title=f"Food ({len(items)} photographs)",
        labels=tuple(
            f"{label} ({Path(name).stem})" if label in twice else label
            for label, name in zip(labels, items, strict=True)
        ),
        images=[
            thumbnail(picture.read_bytes()) if name in shown else None
            for name, picture in zip(items, pictures, strict=True)
        ],
        comparisons=Comparisons(rows),
        provenance=(
            "Food100, M. Wilber, I. Kwak and S. Belongie, HCOMP 2014: answers to be cited with the "
            "paper, photographs under their owners' copyright."
        ),
    )


__all__ = ["food"]
