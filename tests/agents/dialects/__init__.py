"""The languages in which agents speak to a model: one file each, which `scripted_model.py` finds by the path."""
