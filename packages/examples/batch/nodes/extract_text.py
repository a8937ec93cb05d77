from pdf import read_words

invoice = context["item"]
context["name"] = invoice["name"]
context["words"], context["pages"] = read_words(invoice["pdf"], invoice["name"])
