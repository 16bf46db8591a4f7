"""`python -m boathook`."""

from boathook.cli.main import entry

entry()
