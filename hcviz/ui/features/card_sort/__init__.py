"""The sheet about a card sort: names of piles, participants and cards; and its report."""
