"""Pieces of the inspector. A new one is a module with a ``SECTION``, its script, a line here."""

from __future__ import annotations

from hcviz.ui.features.aho_graph import section as aho_graph_section
from hcviz.ui.features.cluster_count import section as cluster_count_section
from hcviz.ui.features.cut_profile import section as cut_profile_section
from hcviz.ui.features.dependencies import section as dependencies_section
from hcviz.ui.features.learning_curve import section as learning_curve_section
from hcviz.ui.features.method_views import section as method_views_section
from hcviz.ui.features.node_costs import section as node_costs_section
from hcviz.ui.features.price_curve import section as price_curve_section
from hcviz.ui.features.similarity_queries import section as similarity_queries_section
from hcviz.ui.parts.section import Section

#: In the order in which they stand.
_EACH: tuple[Section, ...] = (
    aho_graph_section.SECTION,
    similarity_queries_section.SECTION,
    cluster_count_section.SECTION,
    method_views_section.SECTION,
    learning_curve_section.SECTION,
    price_curve_section.SECTION,
    node_costs_section.SECTION,
    cut_profile_section.SECTION,
    dependencies_section.SECTION,
)
SECTIONS: dict[str, Section] = {each.name: each for each in _EACH}

__all__ = ["SECTIONS", "Section"]
