"""How well Wheelspin and its peers find loops, measured on recorded runs and on made ones: `make eval`."""
