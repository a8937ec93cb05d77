import random
import re
import unittest

import paths
from plain_text import find_total_in_text


def invoices():
    """Reads the texts of the fixture as tuples: the title of the case, the amount or None, the
    currency or None, and the text.
    """
    parts = re.split(r"^## (.*) -> (.*)$", (paths.FIXTURES / "texts.txt").read_text(), flags=re.MULTILINE)[1:]
    for special, expected, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        amount, _, currency = expected.partition(" ")
        yield special, None if amount == "nothing" else float(amount), currency.replace("?", "") or None, text


class FindsTheTotal(unittest.TestCase):
    def test_in_every_language_layout_currency_and_wording(self):
        cases = list(invoices())
        self.assertGreater(len(cases), 110)
        for special, amount, currency, text in cases:
            with self.subTest(special, text=text):
                found = find_total_in_text(text)
                self.assertEqual((amount, currency), (found.amount, found.currency) if found else (None, None), found)

    def test_and_says_by_which_words(self):
        found = find_total_in_text("Subtotal  10.00\nGrand total  $12.00")
        self.assertEqual(found.label, "grand total")

    def test_in_a_long_document_without_losing_its_way(self):
        items = "\n".join(f"Call {n}    {n % 7}.{n % 90 + 10}" for n in range(1500))
        found = find_total_in_text(f"Number  Price\n{items}\nTotal to pay    EUR 6,123.45\n")
        self.assertEqual((found.amount, found.currency), (6123.45, "EUR"))

    def test_or_none_in_shuffled_scraps_but_never_stumbles(self):
        """The reader must accept any words, because a PDF may contain anything."""
        scraps = [word for *_, text in invoices() for word in re.findall(r"\S+", text)]
        chance = random.Random(7)
        for _ in range(150):
            words = chance.choices(scraps, k=chance.randrange(1, 60))
            text = "".join(word + chance.choice([" ", " ", "   ", "\n", "\n\n", ""]) for word in words)
            with self.subTest(text=text):
                find_total_in_text(text)
