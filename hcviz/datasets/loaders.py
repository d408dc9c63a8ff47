"""The data sets by name: those that come with hcviz, and those that are loaded from a folder."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from hcviz.core.errors import HcvizError, InvalidData, InvalidParameter
from hcviz.core.tree import Tree
from hcviz.core.triplets import Comparisons
from hcviz.datasets.blocks import noisy_blocks
from hcviz.datasets.crowd import flowers
from hcviz.datasets.dataset import Dataset, class_tree
from hcviz.datasets.food import food
from hcviz.datasets.phylogeny import phylogeny
from hcviz.datasets.pictures import ink_png, thumbnail
from hcviz.datasets.planted import planted_hierarchy

PACKAGE = Path(__file__).resolve().parent.parent
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Entry:
    """``where``: ``packaged`` (a file in data/; a path names another copy), ``library`` (no file),
    ``outside`` (a file under HCVIZ_DATA or the given path). ``files``: below that folder, the
    first that is there. ``listed``: small enough to choose lightly. ``package``: what must be
    installed besides."""

    title: str
    where: str
    make: Callable[[Any], Dataset]
    files: tuple[str, ...] = ()
    listed: bool = True
    package: str = ""


def data_folder() -> Path:
    """Where data/ is: inside an installed package, or beside it in a source checkout."""
    inside = PACKAGE / "data"
    return inside if inside.is_dir() else PACKAGE.parent / "data"


def names(everything: bool = False) -> tuple[str, ...]:
    """The data sets to choose from; with ``everything``, the large and those that need a path."""
    return tuple(
        name
        for name, entry in ENTRIES.items()
        if everything or (entry.listed and entry.where != "outside")
    )


def at_hand() -> tuple[str, ...]:
    """:func:`names`, and those small ones of HCVIZ_DATA that are there."""
    small = [name for name, entry in ENTRIES.items() if entry.listed]
    return tuple(name for name in small if absence(name) is None)


def absence(name: str) -> str | None:
    """Why ``load(name)`` would find nothing, as a sentence; None where it is there."""
    entry = _entry(name)
    if entry.package and find_spec(entry.package) is None:
        return f"The data set {name!r} needs the package {entry.package}."
    if entry.where == "outside":
        try:
            _find(name, entry, None)
        except InvalidData as fault:
            return fault.message
    return None


def title(name: str) -> str:
    """What a person reads for ``name``, without loading it."""
    return _entry(name).title


def load(name: str, path: PathLike | None = None) -> Dataset:
    """A data set by name.

    ``path`` is a file, or a folder that holds it; the environment variable HCVIZ_DATA names such a
    folder for data that does not come with hcviz (``mnist``, ``newsgroups``, ``car``,
    ``food``). Items stand in file order, features unscaled.

    Raises :class:`InvalidParameter` for an unknown name, :class:`InvalidData` for a missing or
    unreadable file.
    """
    entry = _entry(name)
    if entry.where == "library":
        if path is not None:
            raise InvalidParameter(f"The data set {name!r} takes no path.", "Leave path out.")
        return entry.make(name)
    file = _find(name, entry, path)
    try:
        return entry.make(file)
    except HcvizError:
        raise
    except Exception:  # whatever reading a file of another kind brings about
        raise InvalidData(
            f"{file} cannot be read as the data set {name!r}.", "Take a fresh copy of the file."
        ) from None


def _entry(name: str) -> Entry:
    if name not in ENTRIES:
        with_path = [known for known, entry in ENTRIES.items() if entry.where == "outside"]
        there = [known for known in ENTRIES if known not in with_path]
        raise InvalidParameter(
            f"There is no data set {name!r}.",
            f"Known: {', '.join(there)}; and, with a path or HCVIZ_DATA, {', '.join(with_path)}.",
        )
    return ENTRIES[name]


def _find(name: str, entry: Entry, path: PathLike | None) -> Path:
    if path is None and entry.where == "packaged":
        return data_folder() / entry.files[0]
    base = path if path is not None else os.environ.get("HCVIZ_DATA")
    if not base:
        raise InvalidData(
            f"The data set {name!r} does not come with hcviz.",
            "Set HCVIZ_DATA to the folder that holds it, or give load(..., path=...).",
        )
    folder = Path(base)
    below = [*entry.files, *(Path(file).name for file in entry.files)]
    for file in (folder, *(folder / relative for relative in below)):
        if file.is_file():
            return file
    raise InvalidData(
        f"The data set {name!r} should be at {folder / entry.files[0]}, and no file is there.",
        "Check HCVIZ_DATA or path: a file, or a folder that holds it.",
    )


# ---------------------------------------------------------------------- packaged


def _zoo(file: Path) -> Dataset:
    rows = _read(file)
    if rows[0][0] != "name":  # UCI's own file: no header, classes as numbers, "frog" twice
        header = _read(data_folder() / "zoo/zoo.csv")[0]
        seen: set[str] = set()
        for row in rows:
            row[-1] = _ZOO_CLASSES[int(row[-1]) - 1]
            row[0] = f"{row[0]} (venomous)" if row[0] in seen else row[0]
            seen.add(row[0])
        rows = [header, *rows]
    labels = tuple(row[0] for row in rows[1:])
    newick = (data_folder() / "zoo/taxonomy.nwk").read_text(encoding="utf-8")
    return _class_table(
        rows,
        "zoo",
        "UCI Zoo, R. Forsyth 1990, doi 10.24432/C5R59V, CC BY 4.0; target tree written for hcviz, "
        "CC0.",
        target=Tree.from_newick(newick, labels),
    )


_ZOO_CLASSES = ("mammal", "bird", "reptile", "fish", "amphibian", "insect", "invertebrate")


def _glass(file: Path) -> Dataset:
    return _class_table(
        _read(file),
        "glass",
        "UCI Glass Identification, B. German 1987, doi 10.24432/C5WW2P, CC BY 4.0.",
    )


def _yeast(file: Path) -> Dataset:
    return _class_table(
        _read(file),
        "yeast",
        "Eisen et al., PNAS 95, 1998; genes and classes of Brown et al., PNAS 97, 2000; no licence "
        "stated by the authors; copy from Orange3 (GPL-3.0-or-later).",
    )


def _read(file: Path) -> list[list[str]]:
    with open(file, newline="", encoding="utf-8") as lines:
        return [row for row in csv.reader(lines) if row]


def _class_table(
    rows: list[list[str]], name: str, provenance: str, target: Tree | None = None
) -> Dataset:
    """A header, then rows of name, numbers (empty: missing) and class."""
    cells = [[float(cell) if cell else np.nan for cell in row[1:-1]] for row in rows[1:]]
    features = np.array(cells)
    binary = [bool(np.isin(column, (0.0, 1.0)).all()) for column in features.T]
    classes = tuple(row[-1] for row in rows[1:])
    return Dataset(
        name=name,
        title=title(name),
        labels=tuple(row[0] for row in rows[1:]),
        features=features,
        feature_names=rows[0][1:-1],
        feature_kinds=["binary" if column else "number" for column in binary],
        classes=classes,
        target=target or class_tree(classes),
        provenance=provenance,
    )


# ---------------------------------------------------------------------- from libraries


def _iris(_: Any) -> Dataset:
    from sklearn.datasets import load_iris  # half a second to import: only when asked for

    bunch = load_iris()
    classes = tuple(str(bunch.target_names[code]) for code in bunch.target)
    return Dataset(
        name="iris",
        title=title("iris"),
        labels=_numbered(classes),
        features=bunch.data,
        feature_names=[name.replace(" (cm)", ", cm") for name in bunch.feature_names],
        feature_kinds=["number"] * 4,
        classes=classes,
        target=class_tree(classes),
        provenance="Fisher's iris flowers, UCI (doi 10.24432/C56C76, CC BY 4.0) via scikit-learn.",
    )


def _digits(name: str) -> Dataset:
    """All 1797, or (as ``digits``) the first 30 of each digit, in file order."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    chosen = np.arange(len(bunch.target))
    if name == "digits":
        rank = np.empty(len(chosen), int)
        for digit in range(10):
            own = np.flatnonzero(bunch.target == digit)
            rank[own] = np.arange(len(own))
        chosen = np.flatnonzero(rank < 30)
    classes = tuple(str(code) for code in bunch.target[chosen])
    return Dataset(
        name=name,
        title=title(name),
        labels=_numbered(classes, " no. "),
        features=bunch.data[chosen],
        feature_names=bunch.feature_names,
        feature_kinds=["number"] * 64,
        classes=classes,
        target=class_tree(classes),
        images=[ink_png(image / 16.0) for image in bunch.images[chosen]],
        provenance=(
            "UCI Optical Recognition of Handwritten Digits, test part (doi 10.24432/C50P49, "
            "CC BY 4.0) via scikit-learn."
        ),
    )


def _flowers(_: Any) -> Dataset:
    return flowers(seed=0)


def _planted(_: Any) -> Dataset:
    return planted_hierarchy(levels=3, pure_size=15, delta=0.1, sigma=0.1, seed=0)


def _blocks(_: Any) -> Dataset:
    return _measured(noisy_blocks(512, levels=5, sigma=0.3, seed=0), "noisy-blocks")


def _phylogeny(_: Any) -> Dataset:
    return _measured(phylogeny(400, length=200, seed=0), "phylogeny")


def _measured(data: Dataset, name: str) -> Dataset:
    """Few enough items for all similarities of the oracle: every method, and the heatmap."""
    items = np.arange(data.n_items, dtype=np.int32)
    similarity = data.oracle.similarity(items, items)
    return replace(data, name=name, title=title(name), similarity=similarity, oracle=None)


# ---------------------------------------------------------------------- from a folder


def _mnist(file: Path) -> Dataset:
    with np.load(file) as arrays:
        pixels, codes = arrays["images"], arrays["labels"]
    classes = tuple(str(code) for code in codes)
    side = pixels.shape[1:]
    return Dataset(
        name="mnist",
        title=f"MNIST ({len(codes):,} digits)",
        labels=_numbered(classes, " no. "),
        features=pixels.reshape(len(codes), -1),
        feature_names=[f"pixel {r}, {c}" for r in range(side[0]) for c in range(side[1])],
        feature_kinds=["number"] * (side[0] * side[1]),
        classes=classes,
        target=class_tree(classes),
        images=[ink_png(image / 255.0, zoom=2) for image in pixels],
        provenance=f"MNIST, Y. LeCun and C. Cortes, CC BY-SA 3.0; from {file.name}.",
    )


#: By number, as scikit-learn and the original archive have them; how many articles the file has of
#: each says the same (the rarest are the three that are rarest there).
_NEWSGROUPS = (
    "alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware", "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles",
    "rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.electronics", "sci.med",
    "sci.space", "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast",
    "talk.politics.misc", "talk.religion.misc",
)  # fmt: skip


def _newsgroups(file: Path) -> Dataset:
    with np.load(file) as arrays:
        features, codes = arrays["features"], arrays["labels"]
    classes = tuple(_NEWSGROUPS[code] for code in codes)
    width = features.shape[1]
    return Dataset(
        name="newsgroups",
        title=f"20 Newsgroups ({len(codes):,} articles)",
        labels=_numbered(classes, ", article "),
        features=features,
        feature_names=[f"component {k + 1}" for k in range(width)],
        feature_kinds=["number"] * width,
        classes=classes,
        target=class_tree(classes),
        provenance=f"20 Newsgroups, {width} principal components; features MIT; from {file.name}.",
    )


_CAR_LISTS = {
    "ordinary": "ORDINARY CARS",
    "sports": "SPORTS CARS",
    "off-road": "OFF-ROAD",
    "outlier": "OUTLIERS",
}


def _car(file: Path) -> Dataset:
    """60 cars: no features, but the crowd's answers. "i is most central of i, j, k" says that j is
    nearer to i than to k, and k nearer to i than to j (Ghoshdastidar et al. 2019, section 4.2)."""
    rows = np.loadtxt(file, dtype=np.int64, delimiter=",", ndmin=2) - 1
    readme = (file.parent / "README-authors.txt").read_text(encoding="utf-8")
    classes: list[str | None] = [None] * 60
    for name, heading in _CAR_LISTS.items():
        found = re.search(rf"^{heading}[^:\n]*:([\d ]+)$", readme, re.MULTILINE)
        if found is None:
            raise ValueError(f"README-authors.txt has no list of {heading.lower()}")
        for number in found.group(1).split():
            classes[int(number) - 1] = name
    pictures = [file.parent / "images" / f"{number}.jpg" for number in range(1, 61)]
    return Dataset(
        name="car",
        title=title("car"),
        labels=tuple(f"car {number}" for number in range(1, 61)),
        classes=classes,
        target=class_tree([None if name == "outlier" else name for name in classes]),
        images=[thumbnail(p.read_bytes()) if p.is_file() else None for p in pictures],
        comparisons=Comparisons.from_most_central(rows),
        asked={"central": len(rows)},
        provenance=(
            "60 Cars, M. Kleindessner and U. von Luxburg 2017: answers to be cited with the paper, "
            "photographs public domain."
        ),
    )


def _numbered(classes: tuple[str, ...], between: str = " ") -> tuple[str, ...]:
    """setosa 1, setosa 2, ..., virginica 50: a class and a number within it."""
    seen: dict[str, int] = {}
    made = []
    for name in classes:
        seen[name] = seen.get(name, 0) + 1
        made.append(f"{name}{between}{seen[name]}")
    return tuple(made)


ENTRIES: dict[str, Entry] = {
    "zoo": Entry("Zoo (101 animals)", "packaged", _zoo, ("zoo/zoo.csv", "zoo/zoo.data")),
    "iris": Entry("Iris (150 flowers)", "library", _iris),
    "digits": Entry("Digits (300 pictures)", "library", _digits),
    "glass": Entry("Glass (214 fragments)", "packaged", _glass, ("glass/glass.csv",)),
    "yeast": Entry("Yeast (186 genes x 79 arrays)", "packaged", _yeast, ("yeast/yeast.csv",)),
    "planted": Entry("Planted hierarchy (120 items)", "library", _planted),
    "flowers": Entry("Flowers, a crowd's answers (48 pictures)", "library", _flowers),
    "noisy-blocks": Entry("Noisy blocks (512 items)", "library", _blocks),
    "phylogeny": Entry("Phylogeny (400 sequences)", "library", _phylogeny, package="rapidfuzz"),
    "digits-all": Entry("Digits (1,797 pictures)", "library", _digits, listed=False),
    "mnist": Entry("MNIST digits", "outside", _mnist, ("mnist/mnist10k.npz",), False),
    "newsgroups": Entry(
        "20 Newsgroups", "outside", _newsgroups, ("newsgroups/newsgroups1000.npz",), False
    ),
    "car": Entry("Cars (60 photographs)", "outside", _car, ("car/T_ALL_REDUCED.csv",)),
    "food": Entry(
        "Food (100 photographs)",
        "outside",
        food,
        ("food/all-triplets.csv", "food100-dataset/all-triplets.csv"),
    ),
}

__all__ = ["absence", "at_hand", "data_folder", "load", "names", "title"]
