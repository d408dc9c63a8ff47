"""One tree that represents all sampled trees."""
