"""What ``hcviz.cli`` offers, a module for each group of commands, and what they share."""
