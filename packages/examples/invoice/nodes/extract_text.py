from layout import lines_from_words, text_of
from pdf import read_words

words, pages = read_words(context["pdf"], context["pdf_name"])
context["pdf_words"] = words
context["pdf_pages"] = pages
context["ocr_text"] = text_of(lines_from_words(words))
