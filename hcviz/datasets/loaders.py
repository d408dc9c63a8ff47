"""Loading of data sets by name: those of hcviz, and those in the folder HCVIZ_DATA."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
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
from hcviz.datasets.pictures import grayscale_png, thumbnail
from hcviz.datasets.planted import planted_hierarchy

PACKAGE = Path(__file__).resolve().parent.parent
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class DatasetEntry:
    """A data set in the list.

    Attributes
    ----------
    title : title for people
    source : ``packaged`` (a file in data/, or another copy at a path), ``library`` (no file), or
        ``outside`` (a file in HCVIZ_DATA, or at a path)
    read : function that returns the data set, from the file or the name
    files : possible places of the file, relative to the folder
    listed : True for small data sets, which are offered first
    package : a package that must be installed, or an empty text
    """

    title: str
    source: str
    read: Callable[[Any], Dataset]
    files: tuple[str, ...] = ()
    listed: bool = True
    package: str = ""


def data_folder() -> Path:
    """Return the folder data/: inside an installed package, or beside it in a source checkout."""
    inside = PACKAGE / "data"
    return inside if inside.is_dir() else PACKAGE.parent / "data"


def names(everything: bool = False) -> tuple[str, ...]:
    """Return the names of the built-in data sets.

    Parameters
    ----------
    everything : bool
        Also return large data sets, and those that need HCVIZ_DATA or a path.

    Returns
    -------
    tuple of str
        The names.

    Examples
    --------
    >>> names()[:3]
    ('zoo', 'iris', 'digits')
    """
    return tuple(
        name
        for name, entry in ENTRIES.items()
        if everything or (entry.listed and entry.source != "outside")
    )


def at_hand() -> tuple[str, ...]:
    """Return the names of all small data sets that can be loaded, with those in HCVIZ_DATA.

    Returns
    -------
    tuple of str
        Names for :func:`load`.

    Examples
    --------
    >>> "zoo" in at_hand()
    True
    """
    small = [name for name, entry in ENTRIES.items() if entry.listed]
    return tuple(name for name in small if unavailable_reason(name) is None)


def unavailable_reason(name: str) -> str | None:
    """Return a sentence that says why ``load(name)`` would fail, or None."""
    entry = _entry(name)
    if entry.package and not _has_package(entry.package):
        return f"The data set {name!r} needs the package {entry.package}."
    if entry.source == "outside":
        try:
            _find(name, entry, None)
        except InvalidData as fault:
            return fault.message
    return None


@cache
def _has_package(name: str) -> bool:
    """Return True if a package is installed. Pages ask often, and the search reads folders."""
    return find_spec(name) is not None


def title(name: str) -> str:
    """Return the title of a data set, without loading it.

    Parameters
    ----------
    name : str
        A name that :func:`load` takes.

    Returns
    -------
    str
        A short title for people.

    Raises
    ------
    InvalidParameter
        If there is no such data set.

    Examples
    --------
    >>> title("zoo")
    'Zoo (101 animals)'
    """
    return _entry(name).title


def load(name: str, path: PathLike | None = None) -> Dataset:
    """Return a data set by name, with unscaled features and items in the order of the file.

    Parameters
    ----------
    name : str
        One of :func:`names`, or ``mnist``, ``newsgroups``, ``car`` or ``food``, which do not come
        with hcviz.
    path : path-like, optional
        The file, or a folder that holds it. Default: the folder in the environment variable
        HCVIZ_DATA.

    Returns
    -------
    Dataset
        The data.

    Raises
    ------
    InvalidParameter
        If the name is unknown, or the data set has no file.
    InvalidData
        If the file is missing or cannot be read.

    Examples
    --------
    >>> load("zoo").n_items
    101
    """
    entry = _entry(name)
    if entry.source == "library":
        if path is not None:
            raise InvalidParameter(f"The data set {name!r} takes no path.", "Leave path out.")
        return entry.read(name)
    file = _find(name, entry, path)
    try:
        return entry.read(file)
    except HcvizError:
        raise
    except Exception:  # readers raise many types for a wrong file
        raise InvalidData(
            f"{file} cannot be read as the data set {name!r}.", "Use a fresh copy of the file."
        ) from None


def _entry(name: str) -> DatasetEntry:
    if name not in ENTRIES:
        with_path = [known for known, entry in ENTRIES.items() if entry.source == "outside"]
        there = [known for known in ENTRIES if known not in with_path]
        raise InvalidParameter(
            f"There is no data set {name!r}.",
            f"Known: {', '.join(there)}; and, with a path or HCVIZ_DATA, {', '.join(with_path)}.",
        )
    return ENTRIES[name]


def _find(name: str, entry: DatasetEntry, path: PathLike | None) -> Path:
    """Return the file of a data set. Raise InvalidData if it is missing."""
    if path is None and entry.source == "packaged":
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
        f"The data set {name!r} should be at {folder / entry.files[0]}, but there is no file.",
        "Check HCVIZ_DATA or path. It must be the file, or a folder that holds it.",
    )


# ---------------------------------------------------------------------- packaged


def _zoo(file: Path) -> Dataset:
    rows = _read(file)
    if rows[0][0] != "name":  # UCI's file has no header, classes as numbers, and "frog" twice
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
    """Return the data of a header and rows of name, numbers (or empty cells) and class."""
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
    from sklearn.datasets import load_iris  # slow to import

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
    """Return all 1,797 digits, or for the name ``digits`` the first 30 of each digit."""
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
        images=[grayscale_png(image / 16.0) for image in bunch.images[chosen]],
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
    return _with_matrix(noisy_blocks(512, levels=5, sigma=0.3, seed=0), "noisy-blocks")


def _phylogeny(_: Any) -> Dataset:
    return _with_matrix(phylogeny(400, length=200, seed=0), "phylogeny")


def _with_matrix(data: Dataset, name: str) -> Dataset:
    """Return the data with a matrix of similarities instead of an oracle, for all methods."""
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
        images=[grayscale_png(image / 255.0, zoom=2) for image in pixels],
        provenance=f"MNIST, Y. LeCun and C. Cortes, CC BY-SA 3.0; from {file.name}.",
    )


#: Names of the classes by number, as in scikit-learn and the original archive. The numbers of
#: articles per class in the file agree with this order.
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
    """Return 60 cars with a crowd's answers and no features.

    "i is the most central of i, j, k" gives two comparisons: j is nearer to i than to k, and k is
    nearer to i than to j (Ghoshdastidar et al. 2019, section 4.2).
    """
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
    """Return labels such as setosa 1, setosa 2, ..., virginica 50."""
    seen: dict[str, int] = {}
    made = []
    for name in classes:
        seen[name] = seen.get(name, 0) + 1
        made.append(f"{name}{between}{seen[name]}")
    return tuple(made)


ENTRIES: dict[str, DatasetEntry] = {
    "zoo": DatasetEntry("Zoo (101 animals)", "packaged", _zoo, ("zoo/zoo.csv", "zoo/zoo.data")),
    "iris": DatasetEntry("Iris (150 flowers)", "library", _iris),
    "digits": DatasetEntry("Digits (300 pictures)", "library", _digits),
    "glass": DatasetEntry("Glass (214 fragments)", "packaged", _glass, ("glass/glass.csv",)),
    "yeast": DatasetEntry(
        "Yeast (186 genes x 79 arrays)", "packaged", _yeast, ("yeast/yeast.csv",)
    ),
    "planted": DatasetEntry("Planted hierarchy (120 items)", "library", _planted),
    "flowers": DatasetEntry("Flowers, a crowd's answers (48 pictures)", "library", _flowers),
    "noisy-blocks": DatasetEntry("Noisy blocks (512 items)", "library", _blocks),
    "phylogeny": DatasetEntry(
        "Phylogeny (400 sequences)", "library", _phylogeny, package="rapidfuzz"
    ),
    "digits-all": DatasetEntry("Digits (1,797 pictures)", "library", _digits, listed=False),
    "mnist": DatasetEntry("MNIST digits", "outside", _mnist, ("mnist/mnist10k.npz",), False),
    "newsgroups": DatasetEntry(
        "20 Newsgroups", "outside", _newsgroups, ("newsgroups/newsgroups1000.npz",), False
    ),
    "car": DatasetEntry("Cars (60 photographs)", "outside", _car, ("car/T_ALL_REDUCED.csv",)),
    "food": DatasetEntry(
        "Food (100 photographs)",
        "outside",
        food,
        ("food/all-triplets.csv", "food100-dataset/all-triplets.csv"),
    ),
}

__all__ = ["at_hand", "data_folder", "load", "names", "title", "unavailable_reason"]
