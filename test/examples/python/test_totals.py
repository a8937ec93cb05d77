import unittest

import paths  # noqa: F401  (makes the example's lib importable)
from invoice_texts import CASES
from totals import find_total_in_text


class FindsTheTotal(unittest.TestCase):
    def test_in_every_language_layout_and_currency(self):
        for special, text, amount, currency in CASES:
            with self.subTest(special):
                found = find_total_in_text(text)
                self.assertEqual((amount, currency), (found.amount, found.currency) if found else (None, None), found)
