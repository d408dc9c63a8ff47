"""The scikit-learn estimator: scikit-learn's own checks, and what hcviz adds to them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import hcviz
from hcviz.core.errors import InconsistentTriplets, InvalidConstraint, InvalidParameter
from hcviz.sklearn import HierarchicalClustering

#: The checks of scikit-learn that do not apply, with the reasons.
NOT_APPLICABLE = {
    "check_array_api_input": "The array API is not declared, so the check does nothing.",
}
#: The same for ``metric="precomputed"``.
NOT_FOR_MATRICES = {
    "check_clustering": "It gives features, and this estimator takes a matrix of distances.",
    "check_positive_only_tag_during_fit": "Its matrix is neither symmetric nor of distances.",
}

ESTIMATORS = [
    HierarchicalClustering(),
    HierarchicalClustering("crsc", n_clusters=3),
    HierarchicalClustering("average", metric="precomputed"),
    HierarchicalClustering("ddt", method_params={"steps": 400}),
]


def checks():
    for estimator in ESTIMATORS:
        is_matrix = estimator.metric == "precomputed"
        left_out = {**NOT_APPLICABLE, **(NOT_FOR_MATRICES if is_matrix else {})}
        for given, check in estimator_checks_generator(estimator, mark=None):
            name = check.func.__name__
            if name not in left_out:
                yield pytest.param(given, check, id=f"{estimator.method}-{estimator.metric}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def points(n=30):
    rng = np.random.default_rng(4)
    return rng.normal(size=(n, 3)) + np.repeat([[0, 0, 0], [9, 9, 0], [0, 9, 9]], n // 3, axis=0)


@pytest.mark.parametrize("linkage", ["average", "complete", "single", "ward"])
def test_merges_are_those_of_scikit_learn(linkage):
    found = HierarchicalClustering(linkage, n_clusters=3).fit(points())
    model = AgglomerativeClustering(3, linkage=linkage, compute_distances=True).fit(points())
    assert adjusted_rand_score(model.labels_, found.labels_) == 1.0
    assert np.allclose(found.distances_, model.distances_)
    ours, theirs = np.sort(found.children_, axis=1), np.sort(model.children_, axis=1)
    assert np.array_equal(ours, theirs)
    assert (found.n_clusters_, found.n_leaves_, found.n_features_in_) == (3, 30, 3)


def test_distances_may_be_given():
    matrix = squareform(pdist(points(), "cityblock"))
    found = HierarchicalClustering(n_clusters=3, metric="precomputed").fit(matrix)
    model = AgglomerativeClustering(3, linkage="average", metric="precomputed").fit(matrix)
    assert adjusted_rand_score(model.labels_, found.labels_) == 1.0


def test_constraints_name_rows_of_a_frame():
    table = pd.DataFrame(points(6), index=list("abcdef"), columns=["x", "y", "z"])
    model = HierarchicalClustering(n_clusters=2, constraints=[("a", "c", "b"), {"a", "c", "f"}])
    model.fit(table)
    assert model.tree_.labels == tuple("abcdef")
    assert model.tree_.has_clade([0, 2, 5])
    assert model.tree_.satisfies([(0, 2, 1)]).all()
    assert model.feature_names_in_.tolist() == ["x", "y", "z"]
    numbered = clone(model).set_params(constraints=[(0, 2, 1), {0, 2, 5}]).fit(table.to_numpy())
    assert numbered.tree_ == model.tree_
    assert numbered.tree_.labels is None
    repeated = table.set_axis([*"aabcde"], axis=0)  # as after a bootstrap
    assert clone(model).set_params(constraints=None).fit(repeated).tree_.labels is None


def test_it_is_a_step_of_a_pipeline():
    table = pd.DataFrame(points(), index=[f"p{k}" for k in range(30)], columns=["x", "y", "z"])
    model = HierarchicalClustering("crsc", n_clusters=3, constraints=[("p0", "p29", "p15")])
    pipeline = make_pipeline(StandardScaler(), model).set_output(transform="pandas")
    labels = pipeline.fit_predict(table)
    assert sorted(set(labels.tolist())) == [0, 1, 2]
    assert pipeline[-1].tree_.satisfies([(0, 29, 15)]).all()
    assert pickle.loads(pickle.dumps(pipeline))[-1].tree_ == pipeline[-1].tree_


def test_the_random_state_is_the_seed():
    some = {"steps": 300}
    tree = hcviz.fit("ddt", points(), seed=7, **some)
    model = HierarchicalClustering("ddt", random_state=7, method_params=some)
    assert model.fit(points()).tree_ == tree
    drawn = [
        clone(model).set_params(random_state=np.random.RandomState(s)).fit(points()).tree_
        for s in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    first, second = (
        clone(model).set_params(random_state=np.random.default_rng(1)).fit(points()).tree_
        for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize("read", [np.array, pd.DataFrame, hcviz.Triplets])
def test_triplets_may_be_an_array_or_a_frame(read):
    rows = [(0, 2, 1), (3, 5, 4)]
    model = HierarchicalClustering(constraints=read(rows)).fit(points(6))
    assert model.tree_ == clone(model).set_params(constraints=rows).fit(points(6)).tree_
    assert model.tree_.satisfies(rows).all()
    none = HierarchicalClustering(constraints=np.empty((0, 3), np.int64)).fit(points(6))
    assert none.tree_ == HierarchicalClustering().fit(points(6)).tree_


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_clusters": 0},
        {"n_clusters": 31},
        {"metric": "cosine"},
        {"method_params": [1]},
        {"method_params": {"seed": 1}},
    ],
)
def test_a_wrong_parameter_is_one_sentence(wrong):
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        HierarchicalClustering(**wrong).fit(points())


@pytest.mark.parametrize("wrong", [5, [5], ["abc"], [(0, 1)], [{0, 99}]])
def test_a_wrong_constraint_is_one_sentence(wrong):
    with pytest.raises(InvalidConstraint):
        HierarchicalClustering(constraints=wrong).fit(points())


def test_contradictions_are_refused():
    with pytest.raises(InconsistentTriplets):
        HierarchicalClustering(constraints=[(0, 1, 2), (1, 2, 0)]).fit(points())


def test_a_tree_needs_no_clusters():
    model = HierarchicalClustering(n_clusters=None).fit(points())
    assert not hasattr(model, "labels_")
    assert model.tree_.n_leaves == 30
    with pytest.raises(InvalidParameter, match="needs n_clusters"):
        model.fit_predict(points())
