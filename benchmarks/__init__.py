"""How fast it is, as ratios of things that are measured in the same run."""
