"""A host's whole session: order of moments, the stop count, tool calls from a stream, the one end."""
