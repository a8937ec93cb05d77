try:
    import pymupdf
except ImportError:  # before PyMuPDF 1.24 the module had only this name
    import fitz as pymupdf

SAME_LINE = 3  # points

invoice = context["item"]
context["name"] = invoice["name"]
lines = []
try:
    document = pymupdf.open(stream=invoice["pdf"], filetype="pdf")
except Exception as error:
    raise ValueError(f"{invoice['name']} is not a PDF that can be opened: {error}") from error
for page in document:
    height = None
    # Words at the same height form one line. The PDF may draw them in any order, so they are sorted first.
    for x0, y0, _, y1, word, *_ in sorted(page.get_text("words"), key=lambda word: (word[1] + word[3], word[0])):
        if height is None or (y0 + y1) / 2 - height > SAME_LINE:
            lines.append([])
            height = (y0 + y1) / 2
        lines[-1].append((x0, word))
context["text"] = "\n".join(" ".join(word for _, word in sorted(line)) for line in lines)
context["pages"] = document.page_count
