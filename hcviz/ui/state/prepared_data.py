"""``PreparedData``: the data of a session, and the problem that is made of them."""

from __future__ import annotations

from dataclasses import dataclass

from hcviz.core.problem import Problem
from hcviz.datasets import Dataset
from hcviz.session.model import DataSpec
from hcviz.ui.state.data_sources import keeping


@dataclass(frozen=True, eq=False)
class PreparedData:
    """A data set, how it is prepared (``spec``), and its problem without any constraints."""

    dataset: Dataset
    spec: DataSpec
    problem: Problem

    @classmethod
    def prepare(
        cls, dataset: Dataset, spec: DataSpec, before: PreparedData | None = None
    ) -> PreparedData:
        """Make the problem of ``dataset`` as ``spec`` says.

        An oracle that caches its answers is taken over from ``before`` if it is the same one.
        """
        problem = dataset.problem(
            similarity=spec.similarity,
            scaling=spec.scaling,
            missing=spec.missing,
            left_out=spec.left_out,
        )
        return cls(dataset, spec, keeping(problem, None if before is None else before.problem))

    def prepared(self, spec: DataSpec) -> PreparedData:
        """Return the same data prepared as ``spec`` says; itself if they are so already."""
        return self if self.spec == spec else self.prepare(self.dataset, spec, self)

    def is_of(self, spec: DataSpec) -> bool:
        """Return True if ``spec`` is of these data, prepared in any way."""
        return self.spec.has_same_data(spec)
