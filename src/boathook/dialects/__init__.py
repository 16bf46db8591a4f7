"""Hooks that were written for other coding agents, read and run as they are."""
