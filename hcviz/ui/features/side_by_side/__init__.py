"""Up to four methods on the same data and answers: their trees beside each other."""
