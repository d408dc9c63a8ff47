"""Reading of Food100, a crowd's answers about the taste of a hundred dishes."""

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
    """Read ``all-triplets.csv``. A line "a; b; c" says that a tastes more like b than like c.

    The items are the pictures in this file and in the folder ``images`` beside it. The names of
    dishes are in ``ingredients.json``. Folder and names may be missing. Repeats and contradictions
    are kept.

    Raises
    ------
    InvalidData
        If a line does not name three pictures.
    InvalidConstraint
        If an answer compares a dish with itself.
    """
    with open(file, newline="", encoding="utf-8") as lines:
        named = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=";") if row]
    for line, row in enumerate(named, 1):
        if len(row) != 3 or not all(row):
            raise InvalidData(
                f"Answer {line} of {file} should name three pictures, separated by semicolons, but "
                f"names {sum(map(bool, row))}.",
                "Use all-triplets.csv of the Food100 data, unpacked.",
            )
    folder = file.parent
    shown = {f"images/{picture.name}" for picture in folder.glob("images/*.jpg")}
    items = sorted(shown.union(*named))
    place = {name: at for at, name in enumerate(items)}
    rows = np.array([[place[name] for name in row] for row in named], np.int32).reshape(-1, 3)
    ingredients = folder / "ingredients.json"
    dishes = json.loads(ingredients.read_text(encoding="utf-8")) if ingredients.is_file() else {}
    labels = []
    for name in items:
        dish = dishes.get(Path(name).name)
        dish_name = dish.get("name") if isinstance(dish, dict) else None
        labels.append(str(dish_name or Path(name).stem).strip())
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
