import datetime
import decimal
import sys
import types
import unittest
from unittest import mock

import servers
from guide import needs, run


class ReadingCsv(unittest.TestCase):
    def rows(self, data):
        context = {"csv": data}
        run("csv", context)
        return context["rows"]

    def test_finds_delimiter_and_encoding(self):
        expected = [{"vendor": "Müller", "amount": "1.234,56"}]
        text = "vendor;amount\r\nMüller;1.234,56\r\n"
        for data in (text, text.encode("utf-8-sig"), text.encode("cp1252")):
            with self.subTest(data=data):
                self.assertEqual(self.rows(data), expected)

    def test_keeps_line_breaks_inside_quotes(self):
        self.assertEqual(self.rows('a,b\n"x, y\nz",2\n'), [{"a": "x, y\nz", "b": "2"}])

    @needs("pandas")
    def test_stores_the_totals_per_vendor_as_plain_values(self):
        context = {"csv": "vendor ;amount\nAcme;1.000,50\nBolt;2,00\nAcme;0,50\n"}
        run("csv", context, block=1)
        self.assertEqual(context["totals"], [{"vendor": "Acme", "amount": 1001.0}, {"vendor": "Bolt", "amount": 2.0}])
        self.assertEqual(context["csv_out"], "vendor;amount\nAcme;1001.0\nBolt;2.0\n")


class ReadingDates(unittest.TestCase):
    def test_reads_european_and_english_dates(self):
        parse = run("dates", {"issued": "31.01.2026"})["parse_date"]
        cases = {
            "2026-03-05": (2026, 3, 5),
            "Fecha: 5/3/26": (2026, 3, 5),
            "05-03-2026": (2026, 3, 5),
            "martes, 5 de abril de 2026": (2026, 4, 5),
            "15 de Diciembre de 2026": (2026, 12, 15),
            "Berlin, den 5. März 2026": (2026, 3, 5),
            "March 15, 2026": (2026, 3, 15),
            "3 Mai 2026": (2026, 5, 3),
            "7 Oct 2026": (2026, 10, 7),
        }
        for text, expected in cases.items():
            with self.subTest(text=text):
                self.assertEqual(parse(text), datetime.date(*expected))
        with self.assertRaisesRegex(ValueError, "no date in 'soon'"):
            parse("soon")

    def test_stores_dates_as_texts(self):
        context = {"issued": "31.01.2026"}
        run("dates", context)
        self.assertEqual((context["issued_on"], context["due_on"]), ("2026-01-31", "2026-03-02"))


class ReadingAmounts(unittest.TestCase):
    def test_reads_amounts_in_the_formats_of_invoices(self):
        parse = run("money", {"amounts": []})["parse_amount"]
        cases = {
            "1.234,56 €": "1234.56",
            "EUR 1,234.56": "1234.56",
            "1'234.50": "1234.50",
            "1 234,5": "1234.5",
            "1\u00a0234,50 €": "1234.50",
            "1.234": "1234",
            "1,234,567": "1234567",
            "1.234.567,891": "1234567.891",
            "0,125": "0.125",
            "1.23": "1.23",
            "850": "850",
            "Total: 850.": "850",
            "-12,5": "-12.5",
            "-€12.50": "-12.50",
            "12,50-": "-12.50",
            "(99.00)": "-99.00",
            "Sub-total: 12.00": "12.00",
            "850.00 EUR": "850.00",
        }
        for text, expected in cases.items():
            with self.subTest(text=text):
                self.assertEqual(parse(text), decimal.Decimal(expected))
        with self.assertRaisesRegex(ValueError, "no amount in 'free'"):
            parse("free")

    def test_adds_amounts_exactly_and_stores_the_total_as_a_number_and_as_a_text(self):
        context = {"amounts": ["0,10", "0,20", "1.000,00"]}
        run("money", context)
        self.assertEqual((context["total"], context["total_text"]), (1000.3, "1000.30"))


class ReadingJson(unittest.TestCase):
    def test_accepts_absent_and_null_members(self):
        context = {"payload": '{"number": 7, "customer": null, "lines": [{"code": "b"}, {"code": "a", "quantity": "2"}]}'}
        run("json", context)
        expected = {"number": 7, "customer": None, "quantity": 3, "codes": ["a", "b"]}
        self.assertEqual(context["order"], expected)
        self.assertEqual(context["payload_out"], '{"number": 7, "customer": null, "quantity": 3, "codes": ["a", "b"]}')


class CallingApis(unittest.TestCase):
    def call(self, token):
        server = servers.api([[{"id": 1}, {"id": 2}], [{"id": 3}]], token="right")
        with servers.serving(server) as port:
            context = {"api_url": f"http://127.0.0.1:{port}", "api_token": token}
            run("http", context)
        return context, server.asked

    @needs("requests")
    def test_reads_all_pages(self):
        context, asked = self.call("right")
        self.assertEqual([order["id"] for order in context["orders"]], [1, 2, 3])
        self.assertEqual(asked, ["/orders?page=1", "/orders?page=2", "/orders?page=3"])

    @needs("requests")
    def test_raises_an_error_if_the_server_refuses_the_request(self):
        with self.assertRaisesRegex(Exception, "401 Client Error"):
            self.call("wrong")


class AskingPostgres(unittest.TestCase):
    def test_passes_values_separately_from_the_statement_and_stores_plain_values(self):
        row = {"number": "7", "total": decimal.Decimal("850.00"), "due": datetime.date(2026, 3, 31)}
        database = mock.MagicMock()
        database.__enter__.return_value = database
        database.execute.return_value.fetchall.return_value = [row]
        psycopg = types.SimpleNamespace(connect=mock.Mock(return_value=database))
        rows = types.SimpleNamespace(dict_row="as dicts")
        context = {"db_host": "db", "db_port": "5433", "db_name": "n", "db_user": "u", "db_password": "p"}
        context.update(vendor="O'Neil", number="7", amount=850.0)
        with mock.patch.dict(sys.modules, {"psycopg": psycopg, "psycopg.rows": rows}):
            run("postgres", context)
        self.assertEqual(context["invoices"], [{"number": "7", "total": 850.0, "due": "2026-03-31"}])
        connection = psycopg.connect.call_args.kwargs
        self.assertEqual((connection["port"], connection["row_factory"]), (5433, "as dicts"))
        (question, payment) = database.execute.call_args_list
        self.assertEqual((question.args[1], payment.args[1]), (("O'Neil",), ("7", 850.0)))
        self.assertNotIn("O'Neil", question.args[0])

    @needs("psycopg")
    def test_names_only_functions_that_psycopg_has(self):
        from psycopg import sql
        from psycopg.rows import dict_row
        from psycopg.types.json import Jsonb

        self.assertEqual(sql.SQL("SELECT * FROM {}").format(sql.Identifier('a"b')).as_string(), 'SELECT * FROM "a""b"')
        self.assertEqual((callable(dict_row), Jsonb({"a": 1}).obj), (True, {"a": 1}))


if __name__ == "__main__":
    unittest.main()
