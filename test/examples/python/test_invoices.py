"""Tests the seven real invoices with the words that PyMuPDF reads in them."""

import json
import unittest

import paths
from layout import lines_from_words, text_of
from plain_text import find_total_in_text
from totals import find_total


class FindsTheTotalOfRealInvoices(unittest.TestCase):
    def test_by_the_places_of_their_words(self):
        fixtures = sorted(paths.FIXTURES.glob("*.words.json"))
        self.assertEqual(len(fixtures), 7)
        for fixture in fixtures:
            with self.subTest(fixture.name):
                expected = json.loads(fixture.read_text())
                found = find_total(expected["words"])
                self.assertEqual((found.amount, found.currency), (expected["amount"], expected["currency"]), found)

    def test_as_well_in_the_text_that_people_read(self):
        for fixture in sorted(paths.FIXTURES.glob("*.words.json")):
            with self.subTest(fixture.name):
                expected = json.loads(fixture.read_text())
                found = find_total_in_text(text_of(lines_from_words(expected["words"])))
                self.assertEqual((found.amount, found.currency), (expected["amount"], expected["currency"]), found)

    def test_as_they_are_expected_beside_the_pdfs(self):
        for fixture in paths.FIXTURES.glob("*.words.json"):
            name = fixture.name.removesuffix(".words.json")
            beside = json.loads((paths.INVOICE / "invoices" / f"{name}.expected.json").read_text())[0]
            used = json.loads(fixture.read_text())
            self.assertEqual((used["amount"], used["currency"]), (beside["amount"], beside["currency"]))
