"""Free text as features: TF-IDF of the commonest terms of a column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hcviz.core.table_cells import quote

Float = NDArray[np.float64]

#: The number of terms of one column, and of its cells, at most.
MAX_TERMS, MAX_TERM_CELLS = 200, 2_000_000
#: A column is free text if its texts have this many words on average.
MIN_WORDS = 3.0


def is_text(texts: Sequence[str]) -> bool:
    """Return True if texts have three or more words on average, and words in common."""
    words = [set(text.lower().split()) for text in texts]
    total = sum(map(len, words))
    return total >= MIN_WORDS * len(texts) and len(set().union(*words)) < total


def text_features(
    name: str, texts: Sequence[str | None], notes: list[str]
) -> list[tuple[str, Float]]:
    """Return one column for each of at most 200 terms: its TF-IDF in each text.

    Parameters
    ----------
    name : str
        Name of the column.
    texts : sequence of n (str or None)
        The cells; None where missing.
    notes : list of str
        A sentence is appended about the terms.

    Returns
    -------
    list of (name, float64 (n,))
        The columns ``name: term``, NaN where a text is missing. Each row has length 1, or 0 without
        a term. Empty if no term occurs in two texts.

    Notes
    -----
    The terms are the commonest words of two or more letters that occur in two or more texts. Words
    that occur in more than half of many texts are left out. O(letters + n terms).
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

    present = [row for row, text in enumerate(texts) if text is not None]
    limit = min(MAX_TERMS, max(1, MAX_TERM_CELLS // max(1, len(texts))))
    vectorizer = TfidfVectorizer(
        min_df=2, max_df=0.5 if len(present) >= 20 else 1.0, max_features=limit, sublinear_tf=True
    )
    try:
        found = vectorizer.fit_transform([str(texts[row]) for row in present])
    except ValueError:  # scikit-learn's error for an empty vocabulary
        notes.append(f"The texts of {quote(name)} have no word in common and were left out.")
        return []
    table = np.full((len(texts), found.shape[1]), np.nan)
    table[present] = found.toarray()
    terms = vectorizer.get_feature_names_out().tolist()
    notes.append(
        f"The texts of {quote(name)} are compared by {len(terms)} words, weighted by TF-IDF."
    )
    return [(f"{name}: {term}", table[:, k]) for k, term in enumerate(terms)]


__all__ = ["is_text", "text_features"]
