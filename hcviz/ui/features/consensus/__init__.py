"""Draw one tree for all sampled trees."""
