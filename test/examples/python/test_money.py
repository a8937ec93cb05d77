import unittest
from decimal import Decimal

import paths  # noqa: F401
from money import amounts_in, decimal_sign

# Each row: a text, the amount in it and its currency mark.
AMOUNTS = [
    ("1,234.56", "1234.56", None),
    ("1.234,56 EUR", "1234.56", "EUR"),
    ("1 234,56 zł", "1234.56", "zł"),
    ("1\u00a0234,56", "1234.56", None),
    ("CHF 1'234.50", "1234.50", "CHF"),
    ("Rs. 1,23,456.00", "123456.00", "Rs."),
    ("₹2,499", "2499", "₹"),
    ("Rs1939", "1939", "Rs"),
    ("45EUR", "45", "EUR"),
    ("R$ 1.234,50", "1234.50", "R$"),
    ("€ 12,-", "12", "€"),
    ("1.234,--", "1234", None),
    ("¥12,000", "12000", "¥"),
    ("KWD 12.345", "12.345", "KWD"),
    ("0.125", "0.125", None),
    ("(12.00)", "-12.00", None),
    ("12,00-", "-12.00", None),
    ("-€9.32", "-9.32", "€"),
    ("€ -9,32", "-9.32", "€"),
    ("−9,32 €", "-9.32", "€"),
    ("1,234.50CR", "-1234.50", None),
    ("Total:47.50", "47.50", None),
]
NOT_MONEY = [
    "21.05.2014", "2024-03-05", "3/4/24", "19 %", "8.25%", "12:30", "54,910 l", "1,00 Std.", "INV/2023/03/0008",
    "sub@1.50.example", "7. Mai 2014", "August 3 , 2014", "3 x",
]  # fmt: skip


class ReadsAmounts(unittest.TestCase):
    def test_in_every_way_of_writing_them(self):
        for text, value, mark in AMOUNTS:
            with self.subTest(text):
                self.assertEqual([(a.value, a.mark) for a in amounts_in(text)], [(Decimal(value), mark)])

    def test_and_leaves_other_numbers_alone(self):
        for text in NOT_MONEY:
            with self.subTest(text):
                self.assertEqual(amounts_in(text), [])

    def test_side_by_side(self):
        values = [str(a.value) for a in amounts_in("10.00  2.00 EUR  12.00 EUR")]
        self.assertEqual(values, ["10.00", "2.00", "12.00"])

    def test_with_each_currency_at_its_own_amount(self):
        marks = [a.mark for a in amounts_in("EUR 1.064,84 EUR 16.276,83")]
        self.assertEqual(marks, ["EUR", "EUR"])

    def test_brackets_in_a_sentence_are_not_a_minus(self):
        self.assertEqual([str(a.value) for a in amounts_in("Paid (Rs 1939) in cash")], ["1939"])

    def test_three_digits_behind_the_sign_by_what_the_document_writes_elsewhere(self):
        for elsewhere, value in [("12.50 and 3.99", "1.234"), ("12,50 and 3,99", "1234"), ("nothing", "1234")]:
            with self.subTest(elsewhere):
                self.assertEqual(str(amounts_in("1.234", decimal_sign(elsewhere))[0].value), value)

    def test_weak_signs_need_more_than_a_whole_number(self):
        self.assertIsNone(amounts_in("R 8765")[0].mark)
        self.assertEqual(amounts_in("R 87.65")[0].mark, "R")
