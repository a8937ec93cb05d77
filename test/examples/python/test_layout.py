import unittest

import paths  # noqa: F401
from layout import lines_from_words, text_of
from plain_text import lines_from_text


def word(text, x, y, width=None, page=0, height=10):
    return [page, x, y, x + (width or 5 * len(text)), y + height, text]


def read(words):
    return [[cell.text for cell in line.cells] for line in lines_from_words(words)]


class ReadsLines(unittest.TestCase):
    def test_by_place_and_not_by_the_order_of_drawing(self):
        words = [word("9.00", 200, 20), word("Total", 10, 20), word("Subtotal", 10, 5), word("8.00", 200, 5)]
        self.assertEqual(read(words), [["Subtotal", "8.00"], ["Total", "9.00"]])

    def test_with_words_of_one_cell_joined_by_single_spaces(self):
        self.assertEqual(read([word("1", 10, 0), word("234,56", 17.5, 0), word("9", 80, 0)]), [["1 234,56", "9"]])

    def test_across_sizes_and_slightly_different_baselines(self):
        self.assertEqual(read([word("Total", 10, 100), word("9.00", 90, 97, height=16)]), [["Total", "9.00"]])

    def test_once_where_bold_is_printed_twice(self):
        self.assertEqual(read([word("Total", 10, 0), word("Total", 10.4, 0.2)]), [["Total"]])

    def test_apart_where_two_tight_lines_overlap(self):
        self.assertEqual(len(read([word("Weena 664", 10, 0), word("3012 CN", 12, 3)])), 2)

    def test_page_by_page(self):
        self.assertEqual(read([word("two", 10, 0, page=1), word("one", 10, 50)]), [["one"], ["two"]])

    def test_of_plain_text_the_same(self):
        lines = lines_from_text("Total due    1 234,56 EUR\fnext")
        self.assertEqual([[c.text for c in line.cells] for line in lines], [["Total due", "1 234,56 EUR"], ["next"]])
        self.assertEqual([line.page for line in lines], [0, 1])

    def test_and_prints_them_with_their_columns(self):
        text = text_of(
            lines_from_words([word("Net", 10, 0), word("8.00", 200, 0), word("Tax", 10, 20), word("1.00", 200, 20)])
        )
        first, second = text.splitlines()
        self.assertEqual(first.index("8.00"), second.index("1.00"))

    def test_of_nothing_there_are_none(self):
        self.assertEqual((read([]), text_of([])), ([], ""))


class FindsPlaces(unittest.TestCase):
    def test_of_a_part_of_a_cell(self):
        cell = lines_from_words([word("Total", 10, 0), word("9.00", 38, 0, width=20)])[0].cells[0]
        self.assertEqual(cell.place(cell.text.index("9"), len(cell.text)), (38, 58))
