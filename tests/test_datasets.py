"""Data sets by name, gaps and scaling, and the taxonomy that judges the zoo."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import hcviz
from hcviz import HcvizError, Problem, Tree
from hcviz.algorithms import get
from hcviz.algorithms.active.methods import ACTIVE
from hcviz.core.convert import parse_newick
from hcviz.core.errors import InvalidConstraint, InvalidData, InvalidParameter, TooLarge
from hcviz.core.similarity import cosine, similarity_from_features
from hcviz.datasets import (
    MISSING,
    SCALINGS,
    Dataset,
    class_tree,
    fill_missing,
    load,
    names,
    scale_features,
    title,
)
from hcviz.datasets.dataset import LAZY_ABOVE
from hcviz.datasets.loaders import data_folder

# ---------------------------------------------------------------------- by name

SHAPES = {
    "zoo": (101, 16, 7), "iris": (150, 4, 3), "digits": (300, 64, 10), "glass": (214, 9, 6),
    "yeast": (186, 79, 3), "planted": (120, 0, 8), "digits-all": (1797, 64, 10),
    "noisy-blocks": (512, 0, 32), "phylogeny": (400, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_what_a_data_set_is(name):
    data = load(name)
    n, d, classes = SHAPES[name]
    assert data.name == name
    assert data.title == title(name)
    assert len(data.labels) == len(set(data.labels)) == data.n_items == n
    if classes:
        assert len(data.classes) == n
        assert len(set(data.classes)) == classes
        assert next(iter(data.strips.values())) == data.classes
    assert data.target.n_leaves == n
    assert len(data.provenance) > 20
    if d:
        assert data.features.shape == (n, d)
        assert data.features.dtype == np.float64
        assert len(data.feature_names) == len(data.feature_kinds) == len(set(data.feature_names))
        with pytest.raises(ValueError, match="read-only"):
            data.features[0, 0] = 1
    problem = data.problem()
    assert isinstance(problem, Problem)
    assert problem.labels == data.labels
    assert problem.similarity.shape == (n, n)
    if d:
        assert np.isfinite(problem.features).all()


def test_names_are_those_that_need_nothing():
    drawn = ("planted", "flowers", "noisy-blocks", "phylogeny")
    assert names() == ("zoo", "iris", "digits", "glass", "yeast", *drawn)
    assert set(names()) < set(names(everything=True))


def test_zoo_is_uci_zoo_in_file_order(shared_data):
    """The first frog keeps its name; the second is the venomous one."""
    ours, theirs = load("zoo"), load("zoo", shared_data / "zoo/zoo.data")
    assert theirs.labels == ours.labels
    assert np.array_equal(theirs.features, ours.features)
    assert theirs.classes == ours.classes
    assert load("zoo", shared_data).labels == ours.labels
    frog, venomous = ours.labels.index("frog"), ours.labels.index("frog (venomous)")
    assert venomous == frog + 1
    differ = np.flatnonzero(ours.features[frog] != ours.features[venomous])
    assert [ours.feature_names[k] for k in differ] == ["venomous"]
    assert ours.features[venomous, differ[0]] == 1
    assert sorted(set(ours.features[:, ours.feature_names.index("legs")])) == [0, 2, 4, 5, 6, 8]


def test_zoo_similarity_reproduces_a_known_cost():
    """Raw cosine, first frog dropped: the cost of scipy's average linkage is 170992.97."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    zoo = load("zoo")
    w = np.delete(np.delete(cosine(np.array(zoo.features)), 25, 0), 25, 1)
    assert zoo.labels[25] == "frog"
    distance = 1 - w
    np.fill_diagonal(distance, 0)
    tree = Tree.from_linkage(linkage(squareform(distance, checks=False), "average"))
    together = tree.lca_size()[np.triu_indices(100, 1)]
    # Identical animals are ties, which move the value by about 10.
    assert (w[np.triu_indices(100, 1)] * together).sum() == pytest.approx(170992.97, abs=15)


def test_glass_has_the_refractive_indices_of_the_original():
    glass = load("glass")
    index = glass.features[:, glass.feature_names.index("RI")]
    assert index[0] == 1.52101
    assert (index > 1.51).all()
    assert (index < 1.54).all()
    assert [glass.classes.count(c) for c in dict.fromkeys(glass.classes)] == [70, 76, 17, 13, 9, 29]
    oxides = glass.features[:, 1:].sum(axis=1)
    assert (np.abs(oxides - 100) < 1.5).all()  # weight per cent


def test_yeast_keeps_its_gaps():
    yeast = load("yeast")
    assert yeast.n_missing == np.isnan(yeast.features).sum() == 214
    assert yeast.feature_names[0] == "alpha 0"
    assert {c: yeast.classes.count(c) for c in set(yeast.classes)} == {
        "ribosome": 121, "proteasome": 35, "respiration": 30,
    }  # fmt: skip
    for missing in MISSING:
        assert np.isfinite(yeast.problem(missing=missing).features).all()


def test_digits_are_thirty_of_each_with_their_pictures():
    import io

    from PIL import Image
    from sklearn.datasets import load_digits

    digits = load("digits")
    assert [digits.classes.count(str(k)) for k in range(10)] == [30] * 10
    whole = load_digits()
    place = {row.tobytes(): k for k, row in reversed(list(enumerate(whole.data)))}
    found = [place[row.tobytes()] for row in np.array(digits.features)]
    assert found == sorted(found)
    picture = np.asarray(Image.open(io.BytesIO(digits.images[7])))
    assert picture.shape == (48, 48)
    ink = np.round(255 * (1 - whole.images[found[7]] / 16))
    assert np.array_equal(picture[3::6, 3::6], ink)


@pytest.mark.parametrize(
    ("name", "n", "d"), [("newsgroups", 1000, 100), ("car", 60, 0), ("mnist", 10_000, 784)]
)
def test_data_from_outside(name, n, d, shared_data, monkeypatch, tmp_path):
    if name == "mnist":  # a hundred of them: ten thousand pictures take seconds
        with np.load(shared_data / "mnist/mnist10k.npz") as whole:
            (tmp_path / "mnist").mkdir()
            part = {key: whole[key][:100] for key in whole}
            np.savez(tmp_path / "mnist/mnist10k.npz", **part)
        shared_data, n = tmp_path, 100
    monkeypatch.setenv("HCVIZ_DATA", str(shared_data))
    data = load(name)
    assert data.n_items == n
    assert (0 if data.features is None else data.features.shape[1]) == d
    assert data.problem(similarity=None).n_items == n


def test_a_car_answer_is_two_comparisons(shared_data):
    """The first answer, 2 is most central of 2, 1, 16: so 1 and 16 are each nearer to 2."""
    car = load("car", shared_data)
    rows = car.comparisons.rows
    assert len(rows) == 12112
    assert rows[0].tolist() == [0, 1, 15]
    assert rows[6056].tolist() == [15, 1, 0]
    assert car.classes[1] == "ordinary"
    assert [car.classes.count(c) for c in ("ordinary", "sports", "off-road", "outlier")] == [
        24, 15, 17, 4,
    ]  # fmt: skip
    assert all(image.startswith(b"\x89PNG") for image in car.images)
    assert car.problem().comparisons == car.comparisons


def food_folder(folder, answers, images=(), dishes=None):
    """The shape of the Food100 archive, unpacked."""
    from PIL import Image

    (folder / "images").mkdir(parents=True)
    lines = [";".join(f"images/{name}.jpg" for name in row) for row in answers]
    (folder / "all-triplets.csv").write_text("\n".join(lines) + "\n")
    for name in images:
        Image.new("RGB", (8, 8), "red").save(folder / "images" / f"{name}.jpg")
    if dishes is not None:
        (folder / "ingredients.json").write_text(json.dumps(dishes))
    return folder


def test_food_is_read_as_it_is_unpacked(tmp_path, monkeypatch):
    """Repeats and contradictions kept, blanks about names cut off; a picture that no answer names
    is an item; dishes of one name stay distinct, and without a name go by their picture's."""
    answers = [("b7", "a1", "c3"), ("b7", "c3", "a1"), ("b7", "a1", "c3")]
    dishes = {
        "a1.jpg": {"name": "Pancakes"}, "b7.jpg": {"name": "Pancakes"}, "c3.jpg": None,
        "d4.jpg": {"name": "Soup"},
    }  # fmt: skip
    folder = food_folder(tmp_path / "food", answers, ("a1", "b7", "d4"), dishes)
    text = (folder / "all-triplets.csv").read_text()
    (folder / "all-triplets.csv").write_text(text.replace(";", "; "))
    monkeypatch.setenv("HCVIZ_DATA", str(tmp_path))
    data = load("food")
    assert data.labels == ("Pancakes (a1)", "Pancakes (b7)", "c3", "Soup")
    assert data.comparisons.rows.tolist() == [[1, 0, 2], [1, 2, 0], [1, 0, 2]]
    assert data.asked == {"triplets": 3}
    assert [image is None for image in data.images] == [False, False, True, False]
    assert data.title == "Food (4 photographs)"
    assert load("food", folder).labels == load("food", folder / "all-triplets.csv").labels
    bare = food_folder(tmp_path / "bare" / "food100-dataset", answers)
    assert load("food", bare.parent).labels == ("a1", "b7", "c3")


def test_food_that_cannot_be_read_is_a_sentence(tmp_path):
    with pytest.raises(InvalidData, match=r"food/all-triplets\.csv, but there is no file"):
        load("food", tmp_path)
    folder = food_folder(tmp_path / "food", [("a", "b", "c"), ("a", "b")])
    with pytest.raises(InvalidData, match=r"Answer 2 of .* three pictures.* names 2"):
        load("food", folder)
    (folder / "all-triplets.csv").write_text("images/a.jpg;images/b.jpg;images/a.jpg\n")
    with pytest.raises(InvalidConstraint, match="Comparison 0 compares an item with itself"):
        load("food", folder)
    (folder / "all-triplets.csv").write_bytes(b"PK\x03\x04\xff\xfe")
    with pytest.raises(InvalidData, match="cannot be read as the data set 'food'"):
        load("food", folder)


def test_what_cannot_be_loaded_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("HCVIZ_DATA", raising=False)
    with pytest.raises(InvalidParameter, match=r"no data set 'zo'.*zoo, iris"):
        load("zo")
    with pytest.raises(InvalidData, match=r"does not come with hcviz.*HCVIZ_DATA"):
        load("mnist")
    with pytest.raises(InvalidData, match="there is no file"):
        load("mnist", tmp_path)
    with pytest.raises(InvalidParameter, match="takes no path"):
        load("iris", tmp_path)
    for name, content in [("mnist", b"PK\x03\x04"), ("zoo", b"a,b\n\xff"), ("car", b"1,2\n")]:
        file = tmp_path / name
        file.write_bytes(content)
        with pytest.raises(InvalidData, match="cannot be read as the data set"):
            load(name, file)


def test_every_data_folder_names_its_source():
    folders = [f for f in data_folder().iterdir() if f.is_dir() and f.name != "__pycache__"]
    assert {f.name for f in folders} == {"zoo", "glass", "yeast", "lessons"}
    for folder in folders:
        readme = (folder / "README.md").read_text(encoding="utf-8")
        assert re.search(r"CC BY 4\.0|CC0|GPL", readme)
        assert sum(f.stat().st_size for f in folder.iterdir()) < 200_000


# ---------------------------------------------------------------------- the taxonomy

# Any zoologist agrees: the first two are nearer to each other than to the third.
AGREED = """
dolphin porpoise tuna | dolphin giraffe seal | seal sealion dolphin | fruitbat vampire crow
fruitbat girl lark | girl gorilla lion | platypus wolf duck | opossum wallaby hamster
platypus elephant ostrich | opossum elephant platypus | hare squirrel wallaby
hamster vole squirrel | cavy squirrel hare | lion leopard wolf | cheetah puma lion
pussycat lynx mongoose
mongoose lion wolf | wolf bear lynx | mink polecat raccoon | raccoon mink wolf
sealion bear pussycat | deer reindeer giraffe | calf buffalo goat | goat oryx deer
antelope oryx reindeer
boar dolphin pony | giraffe calf boar | elephant aardvark girl | mole lion hamster
pony bear hare | chicken pheasant duck | duck swan chicken | ostrich rhea hawk | kiwi rhea chicken
gull skimmer skua | gull skua hawk | hawk vulture crow | lark wren crow | parakeet sparrow hawk
penguin dove duck | crow tortoise slowworm | hawk tortoise frog | tuatara slowworm tortoise
pitviper seasnake slowworm | slowworm pitviper tuatara | frog toad newt | newt toad tortoise
tortoise girl newt | dogfish stingray carp | tuna girl dogfish | carp chub catfish
catfish piranha carp | herring carp tuna | haddock tuna pike | seahorse sole haddock
starfish girl octopus | starfish sparrow crab | clam octopus worm | slug octopus lobster
worm clam crab | crab lobster scorpion | crayfish lobster crab | housefly crab scorpion
gnat housefly flea | flea housefly moth | moth gnat ladybird | honeybee wasp ladybird
ladybird moth wasp | termite moth crab | honeybee housefly termite | scorpion wasp worm
wasp octopus girl | worm girl seawasp
"""


@pytest.fixture(scope="module")
def zoo():
    return load("zoo")


def test_taxonomy_names_every_animal_once(zoo):
    found, _, _ = parse_newick((data_folder() / "zoo/taxonomy.nwk").read_text(encoding="utf-8"))
    leaves = [name for name, is_leaf in found if is_leaf]
    inner = [name for name, is_leaf in found if not is_leaf]
    assert sorted(leaves) == sorted(zoo.labels)
    assert all(inner)
    assert len(set(inner)) == len(inner)
    assert {"Mammalia", "Aves", "Carnivora", "Arthropoda", "Neoaves"} <= set(inner)


@pytest.mark.parametrize(
    "text", [t.strip() for t in AGREED.replace("\n", "|").split("|") if t.strip()]
)
def test_taxonomy_is_what_zoologists_agree_on(zoo, text):
    row = [zoo.labels.index(name) for name in text.split()]
    assert zoo.target.satisfies([row])[0], text


def test_taxonomy_keeps_open_what_is_open(zoo):
    for text in ["frog toad frog_(venomous)", "penguin flamingo dove", "clam slug octopus",
                 "fruitbat pony wolf", "bear seal raccoon", "bass sole tuna",
                 "lark wren sparrow", "squirrel cavy vole"]:  # fmt: skip
        i, j, k = (zoo.labels.index(name.replace("_", " ")) for name in text.split())
        assert not zoo.target.satisfies([(i, j, k), (i, k, j), (j, k, i)]).any(), text


def test_taxonomy_does_not_contradict_the_open_tree_of_life(zoo, shared_data):
    """A spot check against another source, on animals whose scientific name is certain."""
    newick = json.loads((shared_data / "zoo/opentree.json").read_text())["newick"]
    leaves = [name for name, is_leaf in parse_newick(newick)[0] if is_leaf]
    known = {
        "Octopus": "octopus", "Asteroidea": "starfish", "Scorpiones": "scorpion", "Esox": "pike",
        "Siphonaptera": "flea", "Musca domestica": "housefly", "Lepidoptera": "moth",
        "Orycteropus afer": "aardvark", "Lepus": "hare", "Homo sapiens": "girl", "Rhea": "rhea",
        "Gorilla": "gorilla", "Talpidae": "mole", "Canis lupus": "wolf", "Ursidae": "bear",
        "Lynx": "lynx", "Acinonyx jubatus": "cheetah", "Felis catus": "pussycat",
        "Herpestidae": "mongoose", "Phocoenidae": "porpoise", "Bos taurus": "calf",
        "Giraffa": "giraffe", "Sus scrofa": "boar", "Sphenodon punctatus": "tuatara",
        "Ornithorhynchus anatinus": "platypus", "Viperidae": "pitviper", "Apteryx": "kiwi",
        "Struthio camelus": "ostrich", "Corvus": "crow", "Testudinidae": "tortoise",
        "Anguis fragilis": "slowworm", "Clupeidae": "herring", "Hippocampus": "seahorse",
        "Squalus": "dogfish", "Cubozoa": "seawasp", "Annelida": "worm", "Termitidae": "termite",
    }  # fmt: skip
    plain = [re.sub(r"[ _]ott\d+$", "", name).replace("_", " ") for name in leaves]
    kept = [k for k, name in enumerate(plain) if name in known]
    assert len(kept) > 30
    theirs = Tree.from_newick(newick, leaves).restrict(kept)
    ours = zoo.target.restrict([zoo.labels.index(known[plain[k]]) for k in kept])
    rows = np.array(list(itertools.combinations(range(len(kept)), 3)))
    turned = [rows, rows[:, [0, 2, 1]], rows[:, [1, 2, 0]]]
    a = np.stack([ours.satisfies(r) for r in turned])
    b = np.stack([theirs.satisfies(r) for r in turned])
    assert not (a.any(axis=0) & b.any(axis=0) & (a != b).any(axis=0)).any()


# ---------------------------------------------------------------------- Dataset


def small(**parts):
    return Dataset(**{"name": "s", "title": "S", "labels": ("a", "b", "c"), **parts})


def test_problem_keeps_scaling_and_similarity_apart():
    """Raw cosine is of the raw features, though the sampler gets scaled ones."""
    x = np.array([[1.0, 20], [2, 10], [4, np.nan]])
    data = small(features=x)
    filled = np.array([[1.0, 20], [2, 10], [4, 15]])
    problem = data.problem(similarity="cosine", scaling="none")
    assert np.array_equal(problem.features, filled)
    assert problem.similarity == pytest.approx(cosine(filled))
    scaled = data.problem(similarity="cosine", scaling="range")
    assert scaled.similarity == pytest.approx(cosine(filled))
    assert np.array_equal(scaled.features, [[0, 1], [1 / 3, 0], [1, 0.5]])
    assert data.problem().features.std(axis=0) == pytest.approx([1, 1])
    assert data.problem(similarity=None).similarity is None
    assert len(data.problem(triplets=[(0, 1, 2)]).triplets) == 1
    assert np.isnan(data.features[2, 1])  # nothing was written back
    with pytest.raises(InvalidParameter, match="no similarity"):
        data.problem(similarity="cos")
    with pytest.raises(InvalidParameter, match="no scaling"):
        data.problem(scaling="cos")
    with pytest.raises(InvalidParameter, match="no method"):
        data.problem(missing="cos")


def test_a_measured_similarity_is_used_as_it_is():
    w = np.array([[1, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 1]])
    data = small(similarity=w, features=np.eye(3))
    assert np.array_equal(data.problem(similarity="gaussian").similarity, w)
    assert data.problem(similarity=None).similarity is None


def test_parts_that_do_not_fit_are_a_sentence():
    for parts, message in [
        ({"features": np.ones((2, 2))}, "3 labels, but 2 rows of features"),
        ({"features": np.ones(3)}, "shape"),
        ({"features": [["x"], ["y"], ["z"]]}, "not numbers"),
        ({"features": [[1], [np.inf], [2]]}, "Row 1, column 0 of the features is inf"),
        ({"features": np.ones((3, 2)), "feature_names": ["a"]}, "1 names for 2"),
        ({"similarity": np.ones((2, 2))}, "2 rows of similarity"),
        ({"classes": ["u"]}, "1 values of 'class'"),
        ({"images": [None]}, "1 images"),
        ({"target": Tree.star(4)}, "a tree of 4"),
        ({"labels": ("a", "b", "a")}, "'a' occurs twice"),
    ]:
        with pytest.raises(InvalidData, match=message):
            small(**parts)


def test_a_problem_can_be_shown():
    problem = Problem(labels=["u", "v"], features=[[1.0], [2.0]], feature_names=["f"])
    data = Dataset.from_problem(problem, "mine")
    assert (data.name, data.labels, data.feature_names) == ("mine", ("u", "v"), ("f",))
    assert data.problem().n_items == 2


def test_similarities_of_many_items_are_computed_as_they_are_asked_for():
    n = 10_001
    features = np.random.default_rng(0).standard_normal((n, 3))
    data = Dataset(name="n", title="N", labels=tuple(map(str, range(n))), features=features)
    problem = data.problem(similarity="cosine")
    assert problem.similarity is None
    some = np.array([0, 7, 10_000], np.int32)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    assert np.allclose(problem.oracle.similarity(some, some), unit[some] @ unit[some].T)
    for wrong in (lambda: problem.similarity_or_default, lambda: data.problem("euclidean")):
        with pytest.raises(TooLarge, match=r"needs all 10,001 x 10,001 similarities.*0\.7 GiB"):
            wrong()
    assert data.problem(similarity=None).oracle is None
    for name in hcviz.algorithms():
        lacks = get(name).missing_data(problem)
        needs_no_matrix = {*ACTIVE, "ddt", "random-cut", "build", "ward", "neighbour-ward"}
        assert (lacks is None) == (name in needs_no_matrix), name
    assert "0.7 GiB" in str(get("average").missing_data(problem))


def test_a_matrix_of_a_lazy_similarity_is_the_same_where_a_method_wants_one():
    n = LAZY_ABOVE + 1
    features = np.random.default_rng(0).standard_normal((n, 2))
    data = Dataset(name="n", title="N", labels=tuple(map(str, range(n))), features=features)
    problem = data.problem(similarity="correlation")
    assert problem.similarity is None
    whole = problem.similarity_or_default
    assert np.allclose(whole[:50], similarity_from_features(features, "correlation")[:50])
    fewer = Dataset(name="n", title="N", labels=data.labels[1:], features=features[1:])
    assert fewer.problem(similarity="correlation").oracle is None


def test_class_tree():
    r"""
         root
        / | \  \
       u  v  4  5       4 alone in its class, 5 of none
      /|  |\
     0 2  1 3
    """
    tree = class_tree(["u", "v", "u", "v", "w", None])
    assert sorted(map(sorted, tree.clades())) == [[0, 1, 2, 3, 4, 5], [0, 2], [1, 3]]
    assert class_tree(["u", "u", "u"]) == Tree.star(3)
    assert class_tree(["u", "v"]) == Tree.star(2)
    assert class_tree(["u"]).n_leaves == 1


# ---------------------------------------------------------------------- gaps and scaling

gappy = arrays(
    float,
    st.tuples(st.integers(1, 8), st.integers(0, 4)),
    elements=st.one_of(st.just(np.nan), st.floats(-100, 100)),
)


@given(gappy, st.sampled_from(sorted(MISSING)))
def test_filling_touches_gaps_only(x, method):
    filled = fill_missing(x, method)
    present = ~np.isnan(x)
    assert np.isfinite(filled).all()
    assert np.array_equal(filled[present], x[present])
    for before, after in zip(x.T, filled.T, strict=True):
        known = before[~np.isnan(before)]
        guessed = after[np.isnan(before)]
        if not known.size:
            assert not guessed.any()
        elif method == "column-mean":
            assert guessed == pytest.approx(np.full(len(guessed), known.mean()), abs=1e-9)
        elif method == "column-median":
            assert (guessed == np.median(known)).all()
        else:
            slack = 1e-9 * (1 + np.abs(known).max())
            assert (guessed >= known.min() - slack).all()
            assert (guessed <= known.max() + slack).all()


def test_nearest_rows_are_near_on_scaled_columns():
    """Rows 0 to 5 and 6 to 11 are two kinds by the small column; the large one is noise. The gap
    in row 0 belongs to the first kind, whatever the unit of the noise."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0.0, 1.0], 6)
    x = np.column_stack([kind, kind, kind, 1e6 * rng.random(12), 10 + 5 * kind])
    x[0, 4] = np.nan
    assert fill_missing(x, "knn")[0, 4] == pytest.approx(10)


@given(gappy, st.sampled_from(sorted(SCALINGS)))
def test_scaling_keeps_gaps_and_is_its_definition(x, kind):
    scaled = scale_features(x, kind)
    assert np.array_equal(np.isnan(scaled), np.isnan(x))
    for before, after in zip(x.T, scaled.T, strict=True):
        known, made = before[~np.isnan(before)], after[~np.isnan(before)]
        if not known.size:
            continue
        spread, width = known.std(), np.ptp(known)
        if kind == "none":
            want = known
        elif kind == "centred":
            want = known - known.mean()
        elif kind == "range":
            want = (known - known.min()) / width if width else 0 * known
        elif spread < 1e-6:  # nearly constant: only finite is asked for
            assert np.isfinite(made).all()
            continue
        else:
            want = (known - known.mean()) / spread
        assert made == pytest.approx(want, abs=1e-6)


def test_a_constant_column_has_no_say():
    x = np.column_stack([np.full(7, 1e8 + 0.1), np.arange(7.0)])
    for kind in ("zscore", "range"):
        assert scale_features(x, kind)[:, 0] == pytest.approx(np.zeros(7), abs=1e-6)


def test_no_table_is_a_sentence():
    for function in (fill_missing, scale_features):
        with pytest.raises(HcvizError, match="shape"):
            function(np.ones(3))
        with pytest.raises(HcvizError, match="not numbers"):
            function([["a"]])
    assert hcviz.datasets.load("zoo").n_missing == 0
