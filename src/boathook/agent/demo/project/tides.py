"""Which boats get into a small harbour, and when. Metres, and minutes since midnight."""


def depth(charted, tide):
    """Return how deep the water is: what the chart says, and the tide on top."""
    return charted - tide


def may_enter(draught, charted, tide, margin=0.5):
    """Return whether a boat gets in with at least `margin` of water under its keel."""
    return depth(charted, tide) > draught + margin


def next_high(now, highs):
    """Return the next high tide; when today has none left, tomorrow's first."""
    return min(high for high in highs if high > now)
