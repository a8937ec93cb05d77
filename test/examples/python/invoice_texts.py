"""Invoices as text, in the languages, layouts and currencies of the world: (what is special, text, amount, currency).

None of them comes from a real issuer. Columns stand apart by two spaces or more, as `pdftotext -layout` prints them.
"""

CASES = [
    (
        "english, subtotal tax total",
        """
        INVOICE #1042                                  Date: 2024-03-05
        Description            Qty     Unit price      Amount
        Web design              10         95.00       950.00
        Hosting                  1         49.50        49.50
                                       Subtotal        999.50
                                       Sales tax 8.25%  82.46
                                       Total         $1,081.96
        """,
        1081.96,
        "USD",
    ),
    (
        "a deposit leaves less to pay than the total",
        """
        Invoice total      £2,400.00
        Deposit received    -£600.00
        Balance due        £1,800.00
        """,
        2400.00,
        "GBP",
    ),
    (
        "an old balance makes more to pay than the total",
        """
        Previous balance        $120.00
        Total for this invoice  $80.00
        Total amount due        $200.00
        """,
        80.00,
        "USD",
    ),
    (
        "plain total is the net, the amount due the gross",
        """
        Total              1,000.00
        VAT 20%              200.00
        Amount due    GBP  1,200.00
        """,
        1200.00,
        "GBP",
    ),
    (
        "paid in full",
        """
        Order total      USD 64.20
        Paid by card     USD 64.20
        Amount due        USD 0.00
        """,
        64.20,
        "USD",
    ),
    (
        "german with thousands points",
        """
        Rechnung Nr. 2024-118          Datum: 12.04.2024
        Pos  Bezeichnung           Menge   Einzelpreis   Gesamtpreis
        1    Beratung vor Ort      12 Std.      110,00      1.320,00
        2    Fahrtkosten            1           84,50         84,50
             Nettobetrag                                   1.404,50
             zzgl. 19 % MwSt.                                266,86
             Rechnungsbetrag                               1.671,36 EUR
        Zahlbar bis 26.04.2024 mit 2 % Skonto = 1.637,93 EUR
        """,
        1671.36,
        "EUR",
    ),
    (
        "swiss apostrophes",
        """
        Total exkl. MwSt.                CHF 12'400.00
        8.1% MwSt.                       CHF 1'004.40
        Gesamttotal                      CHF 13'404.40
        """,
        13404.40,
        "CHF",
    ),
    (
        "austrian, tax inside the total",
        """
        Summe                         59,90 €
        darin enthaltene USt 20%       9,98 €
        """,
        59.90,
        "EUR",
    ),
    (
        "french with spaces in thousands",
        """
        Total HT                12 350,00 €
        TVA 20 %                 2 470,00 €
        Total TTC               14 820,00 €
        Acompte versé           -5 000,00 €
        Reste à payer            9 820,00 €
        """,
        14820.00,
        "EUR",
    ),
    (
        "french net a payer",
        """
        Désignation              Qté   P.U. HT    Montant HT
        Réparation chaudière      1     180,00     180,00
        Montant HT                                 180,00
        T.V.A. 10,00 %                              18,00
        Net à payer                                198,00 EUR
        """,
        198.00,
        "EUR",
    ),
    (
        "quebec, two taxes",
        """
        Sous-total        100,00 $
        TPS 5 %             5,00 $
        TVQ 9,975 %         9,98 $
        Total             114,98 $
        """,
        114.98,
        "CAD",
    ),
    (
        "dutch with a table of tax beside",
        """
        Omschrijving          Aantal    Prijs      Bedrag
        Fiets                    1     849,00      849,00
        Subtotaal excl. btw                        701,65
        21% btw                                    147,35
        Totaal incl. btw                         € 849,00
        """,
        849.00,
        "EUR",
    ),
    ("dutch zero decimals", "Totaal te betalen   € 1.250,-", 1250.00, "EUR"),
    (
        "spanish with withholding",
        """
        Base imponible       1.500,00 €
        IVA 21%                315,00 €
        IRPF -15%             -225,00 €
        Total factura        1.590,00 €
        """,
        1590.00,
        "EUR",
    ),
    (
        "mexican",
        """
        RFC: ABC010203XY1
        Subtotal      $ 10,000.00
        IVA 16%        $ 1,600.00
        Total         $ 11,600.00
        """,
        11600.00,
        "MXN",
    ),
    (
        "italian",
        """
        Imponibile             450,00
        IVA 22%                 99,00
        Totale documento       549,00
        Netto a pagare    EUR  549,00
        """,
        549.00,
        "EUR",
    ),
    (
        "portuguese",
        """
        Total ilíquido       200,00 €
        IVA (23%)             46,00 €
        Total a pagar        246,00 €
        """,
        246.00,
        "EUR",
    ),
    (
        "brazilian",
        """
        Valor dos produtos    R$ 1.890,00
        Frete                 R$ 110,00
        Valor total da nota   R$ 2.000,00
        """,
        2000.00,
        "BRL",
    ),
    (
        "polish, columns of net, tax and gross",
        """
        Nazwa towaru        Ilość   Cena netto   Wartość netto   VAT    Kwota VAT   Wartość brutto
        Monitor                2      500,00        1 000,00     23%      230,00         1 230,00
        Razem                                       1 000,00              230,00         1 230,00
        Do zapłaty: 1 230,00 zł
        """,
        1230.00,
        "PLN",
    ),
    (
        "swedish with rounding",
        """
        Netto                   799,20
        Moms 25%                199,80
        Öresavrundning            0,00
        Att betala              999,00 kr
        Bankgiro 123-4567
        """,
        999.00,
        "SEK",
    ),
    (
        "danish",
        """
        CVR 12345678
        Subtotal             kr. 4.000,00
        Moms (25%)           kr. 1.000,00
        I alt                kr. 5.000,00
        """,
        5000.00,
        "DKK",
    ),
    (
        "norwegian",
        """
        Sum eks. mva             8 000,00
        25 % mva                 2 000,00
        Å betale            NOK 10 000,00
        """,
        10000.00,
        "NOK",
    ),
    (
        "finnish",
        """
        Veroton yhteensä       100,00
        ALV 24 %                24,00
        Maksettava yhteensä    124,00 €
        """,
        124.00,
        "EUR",
    ),
    (
        "czech",
        """
        Základ daně          1 000,00 Kč
        DPH 21 %               210,00 Kč
        Celkem k úhradě      1 210,00 Kč
        """,
        1210.00,
        "CZK",
    ),
    (
        "hungarian without decimals",
        """
        Nettó összesen       100 000 Ft
        ÁFA 27%               27 000 Ft
        Fizetendő összeg     127 000 Ft
        """,
        127000.00,
        "HUF",
    ),
    (
        "romanian",
        """
        Subtotal          500,00 RON
        TVA 19%            95,00 RON
        Total de plată    595,00 RON
        """,
        595.00,
        "RON",
    ),
    (
        "turkish",
        """
        Ara toplam      1.000,00 TL
        KDV %20           200,00 TL
        Genel toplam    1.200,00 TL
        """,
        1200.00,
        "TRY",
    ),
    (
        "greek",
        """
        Καθαρή αξία      100,00 €
        ΦΠΑ 24%           24,00 €
        Πληρωτέο ποσό    124,00 €
        """,
        124.00,
        "EUR",
    ),
    (
        "russian",
        """
        Итого без НДС        10 000,00 руб.
        НДС 20%               2 000,00 руб.
        Всего к оплате       12 000,00 руб.
        """,
        12000.00,
        "RUB",
    ),
    (
        "indian lakhs with two state taxes",
        """
        Taxable value         1,05,000.00
        CGST @ 9%                9,450.00
        SGST @ 9%                9,450.00
        Grand Total       Rs. 1,23,900.00
        """,
        123900.00,
        "INR",
    ),
    ("rupee sign touching", "Amount Payable: ₹2,499", 2499.00, "INR"),
    (
        "japanese",
        """
        小計        10,000
        消費税       1,000
        合計       ¥11,000
        """,
        11000.00,
        "JPY",
    ),
    (
        "australian by its business number",
        """
        ABN 51 824 753 556
        Subtotal      $90.00
        GST            $9.00
        Total AUD     $99.00
        """,
        99.00,
        "AUD",
    ),
    (
        "south african rand",
        """
        Sub Total        R 1 000.00
        VAT @ 15%          R 150.00
        Total Due        R 1 150.00
        """,
        1150.00,
        "ZAR",
    ),
    (
        "kuwaiti dinars have three decimals",
        """
        Subtotal         KWD 12.500
        Total            KWD 12.500
        """,
        12.5,
        "KWD",
    ),
    (
        "label above its amount",
        """
        Invoice number     Date of issue      Amount due
        A-17               3 May 2024         $2,310.45
        """,
        2310.45,
        "USD",
    ),
    (
        "boxes of net, tax and gross below their heads",
        """
        Nettobetrag     MwSt. 19 %     Bruttobetrag
        840,34          159,66         1.000,00
        Bitte überweisen Sie ohne Abzug auf das Konto DE89 3704 0044 0532 0130 00. Währung: EUR
        """,
        1000.00,
        "EUR",
    ),
    (
        "gross before tax before net",
        """
                     Brutto     MwSt      Netto
        Summe        119,00     19,00    100,00   EUR
        """,
        119.00,
        "EUR",
    ),
    (
        "total line of a table with quantity",
        """
        Item        Qty     Net     VAT    Gross
        Pens         10   10.00    2.00    12.00
        Paper         5   20.00    4.00    24.00
        Totals       15   30.00    6.00    36.00
        All prices in EUR
        """,
        36.00,
        "EUR",
    ),
    (
        "unlabelled last row of a tax table",
        """
        VAT rate    Net amount    VAT amount    Total
        5%             100.00          5.00    105.00
        20%            200.00         40.00    240.00
        Total          300.00         45.00   £345.00
        """,
        345.00,
        "GBP",
    ),
    (
        "credit note",
        """
        CREDIT NOTE
        Net            -100.00
        VAT 20%         -20.00
        Total          -120.00 EUR
        """,
        -120.00,
        "EUR",
    ),
    (
        "brackets for negative",
        """
        Total credit
        Subtotal      (50.00)
        Tax            (5.00)
        Total       USD
        Grand total   (55.00)
        """,
        -55.00,
        "USD",
    ),
    (
        "receipt with cash and change",
        """
        TOTAL           17.35
        CASH            20.00
        CHANGE           2.65
        Thank you! All prices in EUR
        """,
        17.35,
        "EUR",
    ),
    (
        "counts are not totals",
        """
        Total items: 12        Total weight: 845.50 kg
        Total: 63.20 EUR
        """,
        63.20,
        "EUR",
    ),
    (
        "savings are not totals",
        """
        Total before discount    200.00
        You saved                 20.00
        Total after discount    $180.00
        """,
        180.00,
        "USD",
    ),
    (
        "the total is in a sentence only",
        """
        Wir berechnen Ihnen für unsere Leistungen im März pauschal.
        Bitte überweisen Sie den Gesamtbetrag von 357,00 EUR bis zum 15.04.2024.
        """,
        357.00,
        "EUR",
    ),
    (
        "currency only in a sentence",
        """
        Total due      412.50
        All amounts are in Canadian dollars (CAD).
        """,
        412.50,
        "CAD",
    ),
    (
        "two currencies",
        """
        Total             USD 110.00
        Equivalent        EUR 101.20
        """,
        110.00,
        "USD",
    ),
    (
        "shipping, discount and tax before the total",
        """
        Merchandise        80.00
        Shipping            7.50
        Discount           -5.00
        Estimated tax       6.19
        Order Total:      $88.69
        """,
        88.69,
        "USD",
    ),
    (
        "reverse charge: no tax, net is gross",
        """
        Netto                    5.000,00 €
        MwSt. 0 % (Reverse Charge)   0,00 €
        Gesamt                   5.000,00 €
        """,
        5000.00,
        "EUR",
    ),
    (
        "only a net sum",
        """
        Leistung laut Vertrag
        Summe netto     750,00 €
        Steuerfrei nach § 19 UStG.
        """,
        750.00,
        "EUR",
    ),
    (
        "carried over to the next page",
        """
        Artikel            Menge    Preis    Betrag
        Stuhl                 4    50,00     200,00
        Übertrag                             200,00
        \f
        Übertrag                             200,00
        Tisch                 1   300,00     300,00
        Gesamtbetrag                       € 500,00
        """,
        500.00,
        "EUR",
    ),
    (
        "currency in a cell of its own",
        """
        Subtotal    EUR       40.00
        VAT         EUR        8.40
        Total       EUR       48.40
        """,
        48.40,
        "EUR",
    ),
    ("code behind", "Invoice total: 1,999.00 SGD", 1999.00, "SGD"),
    ("glued to its label", "Gesamtbetrag80,65EUR", 80.65, "EUR"),
    ("no amount at all", "Dear customer, your invoice will follow by separate mail.", None, None),
    ("amounts, but no total", "Our hourly rate is 90.00 EUR, travel costs 0.42 EUR per km.", None, None),
    ("a free document", "Total    0.00 EUR", 0.00, "EUR"),
]
