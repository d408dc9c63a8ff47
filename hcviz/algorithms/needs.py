"""What a method needs of a problem, and what is said if the problem does not have it."""

from __future__ import annotations

from hcviz.core.oracle_protocols import SimilarityOracle
from hcviz.core.problem import FEWER_QUERIES_HINT, Problem, all_similarities_text

#: The hint of the error when a method needs comparisons and the data has none.
COMPARISONS = (
    "Give Problem(comparisons=...), or a file of answers whose first row names the columns: "
    "anchor,near,far for example."
)


def has_input(problem: Problem, need: str) -> bool:
    """Return True if the problem has the input that ``need`` names."""
    if need == "items":
        return True
    if need == "similarity":
        return (
            problem.similarity is not None
            or problem.all_at_once
            or (problem.features is not None and problem.features.shape[1] > 0)
        )
    if need == "triplets":
        return problem.n_constraints > 0
    if need == "piles":
        return bool(problem.piles)
    if need == "comparisons":
        return problem.comparisons is not None and len(problem.comparisons) > 0
    if need == "similarity oracle":
        return hasattr(problem.oracle, "similarity")
    if need == "comparison oracle":
        return hasattr(problem.oracle, "compare")
    return getattr(problem, need) is not None


def computes_all_pairs(problem: Problem, needs: tuple[str, ...]) -> bool:
    """Return True if a method gets its input by computing the similarities of all pairs."""
    given = {need for need in needs if has_input(problem, need)}
    return (
        bool(given) and given <= {"similarity", "similarity oracle"} and problem.similarity is None
    )


def missing_input(
    problem: Problem, title: str, needs: tuple[str, ...], too_large: bool
) -> str | None:
    """Return why a method cannot run on a problem; None if it can.

    ``title`` and ``needs``: of the method. ``too_large``: it would compute too many similarities.
    """
    if any(has_input(problem, need) for need in needs):
        if too_large:
            return f"{title} {all_similarities_text(problem.n_items)} {FEWER_QUERIES_HINT}"
        return None
    if "similarity" in needs and isinstance(problem.oracle, SimilarityOracle):
        return (
            f"{title} needs all similarities, and these are too expensive to compute all. "
            "Use active-spectral, which queries a few of them, or take a sample of the items."
        )
    return f"{title} needs {' or '.join(needs)}, which this data does not have."


def compared_text(problem: Problem, needs: tuple[str, ...]) -> str:
    """Return what the first need that the problem has provides, for people."""
    need = next((each for each in needs if has_input(problem, each)), "items")
    texts = {
        "features": "features, each column with its own scale",
        "similarity": problem.similarity_text,
        "similarity oracle": "queried similarities",
        "comparison oracle": "queried comparisons",
        "piles": "piles of a card sort",
    }
    if need == "comparisons":
        return f"{len(problem.comparisons or ()):,} comparisons"
    return texts.get(need, "")


__all__ = ["COMPARISONS", "compared_text", "computes_all_pairs", "has_input", "missing_input"]
