"""The interactive surface: a terminal agent on Textual, with hooks as first-class citizens."""
