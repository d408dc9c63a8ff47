"""What each price of a soft constraint buys."""
