"""Measure performance as ratios within one run."""
