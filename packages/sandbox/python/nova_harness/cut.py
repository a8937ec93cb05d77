"""
Cuts long texts for people. The engine masks secrets later, and a cut can split a secret, so cuts are marked
(engine/secrets/redactor.ts looks for the mark).
"""

MARK = "[...]"


def cut(text, first, last=0):
    """Keeps the first and the last characters of a text, at most `first` and `last` of them."""
    if len(text) <= first + last:
        return text
    return f"{text[:first]}{MARK}{text[len(text) - last :]}"
