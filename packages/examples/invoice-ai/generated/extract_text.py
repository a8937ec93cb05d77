# STAGE: TASK
try:
    import pymupdf
except ImportError:
    import fitz as pymupdf

SAME_HEIGHT = 3  # points


def lines_of(page):
    lines = []
    for x0, y0, _, y1, word, *_ in sorted(page.get_text("words"), key=lambda w: (w[1] + w[3], w[0])):
        middle = (y0 + y1) / 2
        if lines and abs(lines[-1][0] - middle) < SAME_HEIGHT:
            lines[-1][1].append((x0, word))
        else:
            lines.append((middle, [(x0, word)]))
    return [" ".join(word for _, word in sorted(words)) for _, words in lines]


with pymupdf.open(stream=bytes(context["pdf"]), filetype="pdf") as document:
    text = "\n".join(line for page in document for line in lines_of(page))
    context["pdf_pages"] = document.page_count

if not text.strip():
    raise ValueError(f"{context['pdf_name']} has no text: it is a scan, and needs text recognition first")
context["ocr_text"] = text
