import unittest

from tides import depth, may_enter, next_high


class Depth(unittest.TestCase):
    def test_the_tide_adds_to_the_chart(self):
        self.assertEqual(depth(charted=2.0, tide=1.5), 3.5)


class Entering(unittest.TestCase):
    def test_a_deep_boat_stays_out(self):
        self.assertFalse(may_enter(draught=3.0, charted=2.0, tide=1.0))

    def test_exactly_the_margin_is_enough(self):
        self.assertTrue(may_enter(draught=3.0, charted=2.0, tide=1.5))


class HighTide(unittest.TestCase):
    def test_later_today(self):
        self.assertEqual(next_high(now=400, highs=[300, 1045]), 1045)

    def test_tomorrow_when_today_has_none_left(self):
        self.assertEqual(next_high(now=1100, highs=[300, 1045]), 24 * 60 + 300)


if __name__ == "__main__":
    unittest.main()
