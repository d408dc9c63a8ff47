"""Named groups on a tree: ``Group`` and ``Taxonomy``."""

from hcviz.taxonomy.group import Group
from hcviz.taxonomy.outline import Outline
from hcviz.taxonomy.taxonomy import Change, Taxonomy

__all__ = ["Change", "Group", "Outline", "Taxonomy"]
