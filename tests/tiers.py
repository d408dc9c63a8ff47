"""Which tests ``make check`` leaves to ``make test``: those marked ``slow``.

A test is slow when its module is named here, when it uses the fixture ``cluster``, when it is
marked by hand, or when it drives a browser without being the smoke test. A module is named here
when its tests took more than about eight CPU seconds together, or when it starts servers; modules
of the sampler, of papers and of cuts are named for what they do, not all of them were measured.
"""

from __future__ import annotations

import pytest

#: Modules of ``tests/``, by the reason for their cost.
SLOW = {
    "starts Dask, servers, notebooks or many workers": (
        "test_cli", "test_closed_sessions", "test_cluster", "test_cluster_long",
        "test_cluster_page", "test_cluster_paused", "test_compat_sessions", "test_component_route",
        "test_clade_constraints", "test_explorer", "test_fair_share", "test_jobs",
        "test_load_benchmark", "test_named_groups",
        "test_notebook", "test_public_serving", "test_server_processes", "test_session_kept",
        "test_store",
    ),
    "builds the documentation, or runs its code": (
        "test_docs_build", "test_docs_code", "test_docs_figures",
    ),
    "gives each reader damaged files": ("test_fuzz",),
    "runs every method": (
        "test_agreement", "test_comparing", "test_conformance", "test_groups", "test_joining",
        "test_new_method", "test_sheet_comparisons",
    ),
    "draws many samples, or many data sets with a known truth": (
        "test_active", "test_asking", "test_certainty", "test_comparison_embedding",
        "test_comparison_foural", "test_comparison_partition", "test_comparison_sdp",
        "test_ddt_classes", "test_ddt_data", "test_ddt_latents", "test_ddt_locations",
        "test_ddt_noise", "test_ddt_prior", "test_ddt_sampler", "test_ddt_slide", "test_ddt_ties",
        "test_learning", "test_planted", "test_posterior", "test_posterior_summary",
        "test_questions", "test_questions_teach", "test_sample", "test_settling_runs",
    ),
    "repeats the experiments of papers": (
        "test_reproduce", "test_reproduce_chatziafratis", "test_reproduce_claims",
        "test_reproduce_comparisons", "test_reproduce_krishnamurthy",
    ),
    "takes all small trees, or large ones": (
        "test_build", "test_centre", "test_centre_large", "test_comparison_files",
        "test_ddt_density", "test_ddt_legal", "test_dissimilarity", "test_fields", "test_files",
        "test_picture_cells", "test_session_judge", "test_small_files", "test_structural",
        "test_structural_constraints", "test_structural_cuts", "test_structural_search",
        "test_structural_sparse", "test_tables",
    ),
}  # fmt: skip

_NAMED = {name for names in SLOW.values() for name in names}


def mark_slow(items: list[pytest.Item]) -> None:
    """Add the marker ``slow`` to the tests that the rule above names."""
    for item in items:
        browser = "browser" in item.path.parent.parts[-1:]
        if (
            (browser and item.get_closest_marker("smoke") is None)
            or (not browser and item.path.stem in _NAMED)
            or "cluster" in getattr(item, "fixturenames", ())
        ):
            item.add_marker(pytest.mark.slow)
