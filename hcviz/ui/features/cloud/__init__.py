"""Draw many sampled trees over each other."""
