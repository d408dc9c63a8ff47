"""Many sampled trees drawn over each other."""
