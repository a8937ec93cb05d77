import unittest

import paths  # noqa: F401
from labels import classify, heads_items

KINDS = {
    "gross": "Grand Total|Total incl. VAT|Invoice total|Rechnungsbetrag|Gesamtbetrag inkl. MwSt.|Total T.T.C.|Totaal incl. 21% btw|Totale documento"
    "|Total factura|IVA incluido total|Valor total da nota|Wartość brutto razem|Summa inkl. moms|Celkem vč. DPH|Genel Toplam|Total after discount"
    "|Grand total incl. shipping",
    "due": "Amount due|Balance Due:|Please pay|Zahlbetrag|Zu zahlender Betrag|Net à payer|Somme à payer|Te betalen|Netto a pagare|Total a pagar"
    "|Do zapłaty|Att betala|At betale|Å betale|Maksettava|Fizetendő összeg|К оплате|TOTAL AMOUNT DUE ON August 3, 2014",
    "total": "Total|Totaal|Summe|Razem|Suma|Totale|Yhteensä|Összesen|Σύνολο|Итого|合計|I alt|Total (3)",
    "net": "Subtotal|Sub-total|Zwischensumme|Sous-total|Total HT|Total hors taxes|Totaal excl. btw|Netto|Nettobetrag|Imponibile|Base imponible"
    "|Total before tax|Wartość netto|Sum eks. mva|Veroton yhteensä|Taxable value|Übertrag|Промежуточный итог",
    "tax": "VAT 20%|Tax 15% on|zzgl. 19 % MwSt.|TVA 20 %|Total VAT|21% btw|IVA 22%|Kwota VAT|Moms (25%)|CGST @ 9%|dont TVA|darin enthaltene USt"
    "|VAT due|Includes VAT of|ÁFA 27%|ALV 24 %",
    "other": "Discount|Total discount|Versandkosten|Frais de port|Skonto|You saved|Öresavrundning|Gesamtbetrag der Zuschläge|Late fee",
    "paid": "Payment received|Bereits gezahlt|Acompte versé|Deposit received|Betaald|Zapłacono|Paid by card|Cash",
    "previous": "Previous balance|PREVIOUS UNPAID BALANCE|Balance forward|Overdue",
    "count": "Total items|Total quantity|Total weight|Totaal aantal",
    "none": "Widget type 7|Bank: Sparkasse|Phone||1234",
}


class Classifies(unittest.TestCase):
    def test_what_invoices_call_their_sums(self):
        for kind, texts in KINDS.items():
            for text in texts.split("|"):
                with self.subTest(text):
                    self.assertEqual(classify(text).kind, kind)

    def test_only_the_words_nearest_to_the_amount(self):
        long = (
            "Grand total of all the many things that we have told you about so often in this very long letter of ours"
        )
        self.assertEqual(classify(long).kind, "none")

    def test_heads_of_tables_of_goods(self):
        for head in [
            "Description  Qty  Price  Total",
            "Pos  Bezeichnung  Menge  Einzelpreis",
            "Nazwa towaru  Ilość  Cena",
        ]:
            self.assertTrue(heads_items(head), head)
        self.assertFalse(heads_items("VAT rate  Net amount  VAT amount  Total"))
