"""The words of invoices, grouped by what they say about the amount beside them, with one line per language or family.

Each group lists the alternatives of a regular expression. Several blanks or a line end count as one blank. Case and accents are
removed later, so write the words as people print them. To support another language, add a line for it to each group.
"""

# Names of the total of the whole document.
GROSS = r"""
    grand total | gross (total|amount|sum|value) | total gross | (invoice|order|bill|receipt|document|purchase) (grand )?(total|amount|value|sum)
    | total (for|of) (this|the|your) (invoice|order|bill|purchase) | total (invoice|bill|order) | overall total | final (total|amount) | total charged? | total after (discount|tax|vat)
    | (gesamt|rechnungs|end|brutto|rechnungsgesamt|rechnungsend|gesamtrechnungs)(betrag|summe|endbetrag|bruttobetrag) | gesamtbruttobetrag
    | (summe|gesamt|gesamtpreis) brutto | brutto(gesamt)?summe | brutto gesamt(betrag)? | (gesamt|brutto)entgelt
    | total general | total (de (la )?)?facture | montant total | total de la commande | montant (de la )?facture
    | totaalbedrag | eindtotaal | eindbedrag | factuurbedrag | factuur ?totaal | totaal factuur | totaal generaal | bruto ?bedrag
    | total (de (la )?)?factura | (importe|monto|suma|valor|import) total | total (de )?(compra|pedido) | total comprobante
    | total[ei]? (della )?fattura | total[ei]? (del )?documento | importo totale | total[ei]? (complessivo|generale|ivato|lordo|ordine) | importo fattura
    | total geral | valor total | total da (fatura|nota|factura) | total do (documento|pedido) | montante total
    | (razem|wartość|suma|kwota|ogółem) brutto | należność ogółem | kwota (należności|ogółem) | wartość faktury
    | (faktura|total|slut)(belopp|summa|beløb|beløp) | summa totalt? | sum total(t)? | laskun (loppu)?summa | loppusumma
    | celková (částka|cena) | celková suma | brutto ?(végösszeg|összesen) | végösszeg | számla (végösszege|összege|összeg)
    | (sveukupno|ukupno) računa? | ukupan iznos | skupni znesek | kopēj\w+ (summa|rēķins) | genel toplam | fatura toplam\w* | τελικό σύνολο | γενικό σύνολο | συνολικό ποσό | сумма счета
    | 合計金額 | 総合計 | ご?請求(金額|額|合計) | 価税合計 | 价税合计 | 總計 | 总计 | 總額 | 总额 | 發票總額 | 총액 | ยอดรวมทั้งสิ้น | จำนวนเงินรวม | tổng cộng | tổng (số )?tiền | 합계금액 | 총 합계
    """

# The amount to pay now, which differs from the total after a payment or with an old balance.
DUE = r"""
    (amount )?(due|payable)( now)?( amount| balance| total)? | (to|please|you) pay | (total|amount|balance)( \w+)? to (be paid|pay) | pay(able)? this amount
    | you owe | amount owed | balance | outstanding( amount)? | direct debit amount
    | (zahl|zahlungs|überweisungs|fälligkeits|forderungs|rest|abbuchungs|lastschrift)(betrag|summe) | fällige[rs]? betrag | (noch )?zu (be)?zahlen(de[rs]?)?( betrag)?
    | offene[rs]? (betrag|posten|rechnungsbetrag|forderung) | (zu )?überweisen(de[rs]?)?( betrag)? | zahlbar(er betrag)? | zahllast | saldo
    | (total|net|somme|montant|solde|reste)?( \w+)? à (régler|payer|prélever) | (total|montant|somme|solde|net)( \w+)? du | montant prélevé
    | montant (du|de) prélèvement | solde
    | (nog |totaal |totaalbedrag |bedrag )*te (betalen|voldoen)( bedrag)? | openstaand( bedrag| saldo)? | verschuldigd( bedrag)?
    | (total|importe|neto|saldo|cantidad|líquido|monto|valor)? ?a (pagar|ingresar|abonar) | total adeudado | (importe )?pendiente | (saldo|valor) (devedor|devido)
    | em dívida | por liquidar | pendent | total a pagar
    | (totale|netto|importo|saldo|da)( \w+)? (da|a) pagare | (totale|importo|saldo) dovuto | da (versare|saldare)
    | (razem |kwota |suma |pozostał[oa] |należność )*do zapłaty | do zapłacenia | należności
    | (summa )?att betala | resterande belopp | (beløb )?at betale | til betaling | (udestående|skyldigt) beløb | beløb forfaldent | (beløp |sum )?å betale | skyldig beløp
    | gjenstående | restbeløp | maksettava(a)?( yhteensä)? | avoin lasku | (celkem |částka )?k (úhradě|platbě|zaplacení) | zbývá (zaplatit|uhradit)
    | zostáva (uhradiť|zaplatiť) | k úhrade | (összesen )?fizetendő( összeg)? | (total |rest |sumă )?de plată | ödenecek( tutar)? | za plačilo | stanje duga
    | za (platiti|uplatu) | mokėtina( suma)? | apmaksai | tasuda | tasumisele
    | πληρωτέο( ποσό)? | οφειλόμενο( ποσό)? | к оплате | до сплати | до оплати | за плащане | за плаќање | сума за плащане | остаток | неоплачено
    | お支払い?(金額|額|い)? | 应付(金额)? | 到期餘額 | 應付 | 청구 ?금액 | לתשלום | יתרה | المستحق
    """

# The plain word for a total.
TOTAL = r"""
    total\w* | (total|sum) (amount|price|cost|sum|value|charges?) | sum | totaal | gesamt(summe|preis|wert)? | insgesamt | summe\w* | endpreis
    | totale | totali | suma | razem | ogółem | łącznie | summa\w* | i ?alt | samlet | yhteensä | celkem | celkom | spolu | összesen | mindösszesen
    | toplam\w* | tutar\w* | σύνολο | ολικό | итого | всего | итог | разом | всього | ukupno | sveukupno | skupaj | (iš )?viso | kopā | kokku | общо | тотал
    | вкупно | jumlah | soma | 合計 | 合计 | 總數 | 계 | 합계 | סה כ | รวม | thành tiền | المجموع | الإجمالي
    """

AMOUNT = r"amount | betrag | montant | bedrag | importe | importo | kwota | belopp | beløb | beløp | částka | összeg | price | preis | prix | prijs | valor | iznos | znesek"

# An amount before tax, or a sum that precedes the total.
NET = r"""
    sub ?tot\w* | sub ?sum\w* | zwischen ?summe\w* | sous ?tot\w* | tussentotaal | delsumma | delsum | del ?total | välisumma | parziale | mezisoučet | medzisúčet
    | részösszeg | tarpinė suma | starpsumma | vahesumma | ara ?toplam | suma częściowa | međuzbroj | osnovica | subtotaal | nëntotali
    | taxable( \w+)? | (total|amount) before (tax|vat|gst) | before (tax|vat) | goods (value|total) | net goods | tax base | bemessungsgrundlage | steuerbasis
    | hors (taxes?|tva) | h ?t | base ?imponible | imponibile | base tributável | valor tributável | incidência | grondslag | warenwert | nettowert | podstawa
    | základ\w* | alap | veroton | matrah | merce | μερικό σύνολο | υποσύνολο | καθαρή αξία | подытог | промежуточный итог | субтотал | 小計 | 小计 | 税抜
    | übertrag | carried (forward|over) | brought forward | à reporter | report | transport | riporto | overføring
    """

TAX = r"""
    (total )?(vat|taxe?s?|gst|[csiu]gst|utgst|hst|pst|qst|tvq|tps|mwst|ust|umsatzsteuer|mehrwertsteuer|\w*steuer[ns]?|tva|btw|belasting(en)?|iva|moms|mva|skatt(er)?
    |mervärdesskatt|merverdiavgift|dph|daň|daně|dane|áfa|adók?|alv|verot?|kdv|vergi|vergiler|φπα|φόρο[ις]|pdv|ddv|dav(ek|ki)|pvm|pvn|mokestis|mokesčiai|nodok[lļ]i?s?
    |maks|maksud|käibemaks|porezi?|ptu|podatek|podatku|podatki|imposta|tass[ae]|impuesto\w*|imposto\w*|impost|isv|igv|itbis|irpf|retención|ritenuta|cess|cst|icms
    |taxă|ндс|ндф|пдв|ддс|данъ[кц]и?|данок|налоги?|vsk|消費税|税額?|税|稅金?|부가세|מע מ|ضريبة)
    """

OTHER = r"""
    discount\w* | rabatt?\w* | remise\w* | rabais | réduction | korting\w* | descuento\w* | descompte | scont[oi] | desconto\w* | rebate | alennus | sleva | zľava
    | kedvezmény | i̇?skonto | indirim | nachlass | popust | nuolaida | atlaide | allahindlus | έκπτωση | скидка | отстъпка | 折扣 | 値引き?
    | shipping | delivery | freight | postage | handling | versand\w* | porto | fracht | frais | livraison | verzend\w* | envío | portes | spedizione | trasporto
    | frete | wysyłka | frakt | transportkosten | skonto\w* | escompte | rounding | rundung\w* | arrondi | afronding | redondeo | arrotondamento
    | öresavrundning | øreafrunding | zaokrągleni\w* | zaokrouhlení | kerekítés | change | rückgeld | wechselgeld | sav(ed|ings?) | unit (price|cost) | per unit | stückpreis
    | (zu|ab)schl[aä]g\w* | allowances? | surcharge\w* | einzelpreis | capital | kapital | stammkapital | capitale | limit | minimum | late (fee|charge) | fee | penalty
    | mahn\w* | verzug\w* | interest | zinsen | pénalité\w* | indemnité | entschädigung | gutschein | voucher | coupon | gift card | credit note | credits?
    | equivalent | tegenwaarde | gegenwert | contre valeur | exchange | wechselkurs | per (month|monat|year|jahr|hour|day|mese|mois|maand) | tip | gratuity | trinkgeld
    | installments? | rate | raten | insured | coverage | guthaben | verrechnung | deducted | cashback | eco ?tax\w* | ecotaxe | write off | adjustment\w* | refund\w* | słownie
    """

# A number of things instead of money, unless a currency is beside it.
COUNT = r"""
    quantity | qty | items? | articles? | artikel | weight | gewicht | poids | peso | waga | hours | stunden | heures | uren | pages? | units? | points | packages
    | cartons | boxes | pieces | nights? | days | menge | anzahl | aantal | cantidad | quantità | quantité | quantidade | ilość | colli | pallets | km | kwh
    """

PREVIOUS = r"""
    (previous|prior|last|opening|old|past|vorherige[rs]?|alter|letzte[rs]?|ancien|précédent|saldo anterior|vorige)( \w+)? ?(balance|invoice|bill|statement|saldo|rechnung|solde|due|charges?)?
    | balance (brought )?forward | arrears | overdue | rückstand | arriérés | offene (zahlungen|forderungen)
    """

PAID = r"""
    paid | payments? (received|made) | less payments? | received | (an|be|ge)zahlt\w* | zahlungseingang | bereits (be|ge)zahlt | erhalten\w* | payé\w* | réglé
    | déjà (payé|réglé|versé) | versé | règlement | betaald | voldaan | ontvangen | pagad[oa] | pagat | entregado | pagat[oi] | pag[oa] | zapłacono | wpłacono | betal[td]
    | maksettu | zapla(cen|ten)[oé] | uhrazeno | kifizetve | fizetve | achitat | plătit | ödenen | plaćeno | plačano | apmokėta | apmaksāts | tasutud | оплачено | платено | платени | εξοφλημένο
    | deposits? | prepay\w* | prepaid | voorschot | anzahlung\w* | abschlagszahlung\w* | acomptes? | aanbetaling | anticip\w* | adelanto | acconto | zaliczk\w*
    | förskott | forskud | záloha | avans | zapłacona | tendered | given | gegeben | cash | bar | card | visa | mastercard | paypal | charged to | 已付
    """

# "With tax": makes a total a gross one.
INCL = r"""
    incl\w* | inkl\w* | inc | ttc | toutes taxes( comprises)? | brutto\w* | gross | bruto | lordo | ivato
    | (con|com|c|mit|med|cu|s|vč|with|z|su|ar) (iva|vat|mwst|ust|moms|mva|tva|dph|tax|taxes|gst|vat|pdv|ddv|pvm|pvn) | tax paid | compris\w*
    | incluid[oa]s? | inclus[oaei]? | inclusos | compres[oaie] | dahil | sis alv | verollinen | zawiera | 税込 | t ?t ?c | all in | áfával
    """

# "Of which tax": the amount is the tax inside the total.
WITHIN = r"""
    (davon|darin( enthalten(e[rs]?)?)?|enthalten(e[rs]?)?|dont|of which|includes?|including|waarvan|waarin|di cui|de los cuales|w tym|heraf|varav|herav|z toho|z czego|contains|hiervon|inbegrepen)( \w+)?
    (vat|tax(es)?|gst|mwst|ust|umsatzsteuer|mehrwertsteuer|steuer|tva|btw|iva|moms|mva|dph|podatek|ptu)
    | (vat|tax(es)?|gst|mwst|ust|tva|btw|iva|moms|mva) (included|contained|incluse|inclus|incluido|compresa|enthalten|inbegrepen|inkluderat) (in|im|dans|en|nel|i)
    """

# "Without tax": makes a total a net one.
EXCL = r"""
    excl\w* | exkl\w* | ekskl\w* | eks | ex | ht | h t | hors | net | netto\w* | nett | neto | ohne | without | before | sin | sem | senza | zonder | bez | brez | bu?den | uden | uten | fără
    | hariç | sans | zzgl | zuzüglich | plus | exempt | verotonta | ilman | pre tax | pretax | imponibile | base | без | χωρίς | nélkül
    """

# Words for additional tax. Without a word for a total, the amount beside them is the tax; with one, it is the sum before tax.
ADDED = r"zzgl | zuzüglich | plus | vermeerderd met"

# Words for the amount due that start like words for a net amount.
DUE_FIRST = (
    r"net à payer | net (amount )?(due|payable) | netto a pagare | neto a pagar | líquido a \w+ | netto zu zahlen"
)

# Two of these words make a line the head of a table of goods.
ITEM_HEAD = r"""
    quantity | qty | description | unit( price| cost)? | price | rate | item\w* | product\w* | article\w* | artikel\w* | menge | bezeichnung | beschreibung | einzelpreis
    | position | pos | anzahl | désignation | quantité | qté | prix( unitaire)? | p ?u( ht)? | omschrijving | aantal | prijs | stuk\w* | descripción | concepto | cantidad | precio
    | descrizione | quantità | prezzo | descrição | quantidade | preço | nazwa\w* | ilość | cena\w* | antal | pris | beskrivning | beskrivelse | määrä | hinta | popis
    | množství | megnevezés | mennyiség | hours | leistung\w* | service\w* | stückpreis | e preis | ep | opis | količina | cijena | açıklama | miktar | наименование | количество | цена
    | περιγραφή | ποσότητα | τιμή | 単価 | 数量 | 品名 | 单价
    """
