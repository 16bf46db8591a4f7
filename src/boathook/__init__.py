"""Boathook: hooks for any Python agent."""

__version__ = "0.1.0"
