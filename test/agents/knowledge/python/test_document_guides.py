import io
import unittest
import zipfile

from guide import needs, run


class ReadingPdf(unittest.TestCase):
    def pdf(self, *texts):
        import pymupdf

        document = pymupdf.open()
        for text in texts:
            document.new_page().insert_text((50, 80), text)
        return document.tobytes()

    @needs("pymupdf")
    def test_takes_the_text_of_all_pages(self):
        context = {"pdf": self.pdf("FACTURA 7\nTotal: 1.234,56 EUR", "second page")}
        run("pdf", context)
        self.assertEqual(context["pages"], 2)
        self.assertIn("Total: 1.234,56 EUR", context["text"])
        self.assertIn("second page", context["text"])
        self.assertEqual(context["needs_ocr"], False)

    @needs("pymupdf")
    def test_says_that_a_scan_has_no_text(self):
        context = {"pdf": self.pdf("")}
        run("pdf", context)
        self.assertEqual((context["pages"], context["needs_ocr"]), (1, True))

    @needs("pymupdf")
    def test_names_only_functions_that_pymupdf_has(self):
        import pymupdf

        with pymupdf.open(stream=self.pdf("Total 5"), filetype="pdf") as pdf:
            page = pdf[0]
            (rectangle,) = page.search_for("Total")
            self.assertEqual(page.get_text("text", clip=rectangle).strip(), "Total")
            self.assertEqual(page.get_text("words")[1][4], "5")
            self.assertEqual([table.extract() for table in page.find_tables().tables], [])
            self.assertTrue(page.get_pixmap(dpi=150).tobytes("png").startswith(b"\x89PNG"))
            self.assertFalse(pdf.needs_pass and not pdf.authenticate("x"))
        with self.assertRaises(pymupdf.FileDataError):
            pymupdf.open(stream=b"no pdf at all", filetype="pdf")


class LookingAtImages(unittest.TestCase):
    def image(self, mode="RGBA", size=(3200, 800)):
        from PIL import Image

        buffer = io.BytesIO()
        Image.new(mode, size).save(buffer, format="PNG")
        return buffer.getvalue()

    @needs("PIL")
    def test_keeps_a_smaller_copy_as_bytes(self):
        from PIL import Image

        context = {"photo": self.image()}
        run("images", context)
        self.assertEqual((context["photo_format"], context["photo_size"]), ("PNG", [3200, 800]))
        with Image.open(io.BytesIO(context["thumbnail"])) as small:
            self.assertEqual((small.format, small.size), ("JPEG", (1600, 400)))

    @needs("PIL")
    def test_names_only_functions_that_pillow_has(self):
        from PIL import Image, ImageDraw, ImageFont, UnidentifiedImageError

        image = Image.new("RGBA", (40, 40))
        flat = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
        self.assertEqual(flat.getpixel((0, 0)), (255, 255, 255))
        ImageDraw.Draw(flat).text((1, 1), "x", fill="black", font=ImageFont.load_default(size=24))
        buffer = io.BytesIO()
        flat.save(buffer, format="PDF", save_all=True, append_images=[flat.crop((0, 0, 9, 9)).resize((5, 5))])
        self.assertTrue(buffer.getvalue().startswith(b"%PDF"))
        with self.assertRaises(UnidentifiedImageError):
            Image.open(io.BytesIO(b"no image"))


SHEET = """<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>total</t></is></c></row>
<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2"><v>9</v></c><c r="C2"><v>850.5</v></c></row>
<row r="3"><c r="A3" t="str"><f>A2</f><v>Acme</v></c><c r="C3"/></row></sheetData></worksheet>"""
STRINGS = """<?xml version="1.0"?><sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<si><t>vendor</t></si><si><r><t>Ac</t></r><r><t>me</t></r></si></sst>"""


class ReadingExcel(unittest.TestCase):
    def test_reads_shared_texts_inline_texts_numbers_and_empty_cells(self):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as book:
            book.writestr("xl/worksheets/sheet1.xml", SHEET)
            book.writestr("xl/sharedStrings.xml", STRINGS)
        context = {"xlsx": buffer.getvalue()}
        run("excel", context)
        self.assertEqual(context["rows"], [{"vendor": "Acme", "total": 850.5}, {"vendor": "Acme", "total": None}])


if __name__ == "__main__":
    unittest.main()
