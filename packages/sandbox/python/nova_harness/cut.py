"""
Long texts for people, cut. Secrets are masked after that, where they are known: a part of one may be left at each side of
a cut, so cuts are marked (engine/secrets/redactor.ts looks for the mark).
"""

MARK = "[...]"


def cut(text, first, last=0):
    """At most so many characters of its beginning and of its end."""
    if len(text) <= first + last:
        return text
    return f"{text[:first]}{MARK}{text[len(text) - last :]}"
