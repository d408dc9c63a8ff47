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


def more_text_features(texts: Sequence[str | None], terms: Sequence[str], known: Float) -> Float:
    """Return the features of further texts, float64 (m, t), as :func:`text_features` would.

    Parameters
    ----------
    texts : sequence of m (str or None)
        The new cells; None where missing.
    terms : sequence of t str
        The terms of the column.
    known : float64 (n, t)
        The TF-IDF of the terms in the earlier texts. How many of these have a term is its weight.

    Returns
    -------
    float64 (m, t)
        NaN where a text is missing. A text without a known term is 0 everywhere.
    """
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import

    words = CountVectorizer(vocabulary=list(terms))
    counts = words.transform([text or "" for text in texts]).toarray().astype(np.float64)
    n = (~np.isnan(known[:, 0])).sum()
    weight = np.log((1 + n) / (1 + (known > 0).sum(axis=0))) + 1  # the smooth IDF of scikit-learn
    found = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0) * weight
    length = np.linalg.norm(found, axis=1, keepdims=True)
    found = np.divide(found, length, out=found, where=length > 0)
    found[[text is None for text in texts]] = np.nan
    return found


__all__ = ["is_text", "more_text_features", "text_features"]
