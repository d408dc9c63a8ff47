"""The command ``hcviz cite``, and the papers' references."""

from __future__ import annotations

import argparse

from hcviz.algorithms import get

#: What a method's declaration cites -> the reference.
REFERENCES = {
    "Vikram and Dasgupta 2016": "Vikram, S. and Dasgupta, S. (2016). Interactive Bayesian "
    "Hierarchical Clustering. Proceedings of the 33rd International Conference on Machine "
    "Learning (ICML).",
    "Neal 2003": "Neal, R. M. (2003). Density Modeling and Clustering Using Dirichlet Diffusion "
    "Trees. Bayesian Statistics 7, 619-629.",
    "Chatziafratis, Niazadeh and Charikar 2018": "Chatziafratis, V., Niazadeh, R. and Charikar, "
    "M. (2018). Hierarchical Clustering with Structural Constraints. Proceedings of the 35th "
    "International Conference on Machine Learning (ICML).",
    "Krishnamurthy, Balakrishnan, Xu and Singh 2012": "Krishnamurthy, A., Balakrishnan, S., Xu, "
    "M. and Singh, A. (2012). Efficient Active Algorithms for Hierarchical Clustering. "
    "Proceedings of the 29th International Conference on Machine Learning (ICML).",
    "Ghoshdastidar, Perrot and von Luxburg 2019": "Ghoshdastidar, D., Perrot, M. and von "
    "Luxburg, U. (2019). Foundations of Comparison-Based Hierarchical Clustering. Advances in "
    "Neural Information Processing Systems 32 (NeurIPS).",
    "Perrot, Esser and Ghoshdastidar 2020": "Perrot, M., Esser, P. M. and Ghoshdastidar, D. "
    "(2020). Near-Optimal Comparison Based Clustering. Advances in Neural Information "
    "Processing Systems 33 (NeurIPS).",
    "van der Maaten and Weinberger 2012": "van der Maaten, L. and Weinberger, K. (2012). "
    "Stochastic Triplet Embedding. IEEE International Workshop on Machine Learning for Signal "
    "Processing (MLSP).",
    "Jain, Jamieson and Nowak 2016": "Jain, L., Jamieson, K. and Nowak, R. (2016). Finite Sample "
    "Prediction and Recovery Bounds for Ordinal Embedding. Advances in Neural Information "
    "Processing Systems 29 (NIPS).",
    "Aho, Sagiv, Szymanski and Ullman 1981": "Aho, A. V., Sagiv, Y., Szymanski, T. G. and "
    "Ullman, J. D. (1981). Inferring a Tree from Lowest Common Ancestors with an Application to "
    "the Optimization of Relational Expressions. SIAM Journal on Computing 10(3), 405-421.",
    "Sokal and Michener 1958": "Sokal, R. R. and Michener, C. D. (1958). A Statistical Method for "
    "Evaluating Systematic Relationships. University of Kansas Science Bulletin 38, 1409-1438.",
    "Sneath 1957": "Sneath, P. H. A. (1957). The Application of Computers to Taxonomy. Journal "
    "of General Microbiology 17(1), 201-226.",
    "Sorensen 1948": "Sørensen, T. (1948). A Method of Establishing Groups of Equal Amplitude in "
    "Plant Sociology Based on Similarity of Species Content. Biologiske Skrifter 5(4), 1-34.",
    "Sumengen et al. 2021": "Sumengen, B., Rajagopalan, A., Citovsky, G., Simcha, D., Bachem, O., "
    "Mitra, P., Blasiak, S., Liang, M. and Kumar, S. (2021). Scaling Hierarchical Agglomerative "
    "Clustering to Billion-sized Datasets.",
    "Ward 1963": "Ward, J. H. (1963). Hierarchical Grouping to Optimize an Objective Function. "
    "Journal of the American Statistical Association 58(301), 236-244.",
}
#: References of methods whose declaration cites no paper.
CLASSICAL = {
    "average": "Sokal and Michener 1958",
    "single": "Sneath 1957",
    "complete": "Sorensen 1948",
    "ward": "Ward 1963",
}


def references(method: str) -> list[str]:
    """Return the references of a method; none if it has none.

    Examples
    --------
    >>> references("ward")[0][:17]
    'Ward, J. H. (1963'
    """
    paper = get(method).paper or CLASSICAL.get(method, "")
    return [REFERENCES.get(each, each) for each in paper.split("; ") if each]


def paper_reference(title: str) -> str:
    """Return the reference that has this title."""
    return next(each for each in REFERENCES.values() if title in each)


def cite(options: argparse.Namespace) -> None:
    """Print the references of a method, then how to cite hcviz."""
    found = references(options.method)
    print("\n".join(found) if found else f"{get(options.method).title} has no paper of its own.")
    print("The hcviz developers. hcviz: build the hierarchy you mean. See CITATION.cff.")


__all__ = ["CLASSICAL", "REFERENCES", "cite", "paper_reference", "references"]
