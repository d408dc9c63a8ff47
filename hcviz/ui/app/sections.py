"""Pieces of the inspector. A new one is a module with a ``SECTION``, its script, a line here."""

from __future__ import annotations

from hcviz.ui.features.aho_graph import section as why
from hcviz.ui.features.cluster_count import section as spur
from hcviz.ui.features.cut_profile import section as profile
from hcviz.ui.features.dependencies import section as worth
from hcviz.ui.features.learning_curve import section as learning
from hcviz.ui.features.method_views import section as views
from hcviz.ui.features.node_costs import section as costs
from hcviz.ui.features.price_curve import section as prices
from hcviz.ui.features.similarity_queries import section as asked
from hcviz.ui.parts.section import Section

#: In the order in which they stand.
_EACH: tuple[Section, ...] = (
    why.SECTION,
    asked.SECTION,
    spur.SECTION,
    views.SECTION,
    learning.SECTION,
    prices.SECTION,
    costs.SECTION,
    profile.SECTION,
    worth.SECTION,
)
SECTIONS: dict[str, Section] = {each.name: each for each in _EACH}

__all__ = ["SECTIONS", "Section"]
