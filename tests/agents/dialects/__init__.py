"""The APIs through which agents talk to a model, one file each; `scripted_model.py` picks one by the path."""
