"""What a value or an error looks like on the wire, as the code interpreter's IPython would show it."""

import base64
import json
import traceback

_METHODS = {
    "html": "_repr_html_", "markdown": "_repr_markdown_", "svg": "_repr_svg_", "png": "_repr_png_",
    "jpeg": "_repr_jpeg_", "pdf": "_repr_pdf_", "latex": "_repr_latex_", "json": "_repr_json_",
    "javascript": "_repr_javascript_",
}  # fmt: skip
_HERE = __package__.replace(".", "/")


def represent(value):
    text = repr(value)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]  # the server does so with every text, a string or not
    shown = {"text": text}
    for key, method in _METHODS.items():
        content = _call(value, method)
        if isinstance(content, bytes):
            shown[key] = base64.b64encode(content).decode()
        elif content is not None:
            shown[key] = _plain_json(content) if key == "json" else str(content)
    if isinstance(value, (dict, list)) and "json" not in shown:
        plain = _plain_json(value)
        if plain is not None:
            shown["json"] = plain
    return shown


def _call(value, method):
    if isinstance(value, type) or not hasattr(type(value), method):
        return None
    try:
        content = getattr(value, method)()
    except Exception:  # the method is anybody's code, and the plain text is there already
        return None
    return content[0] if isinstance(content, tuple) else content


def _plain_json(value):
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None


def describe_error(error):
    return {"name": type(error).__name__, "value": _text_of(error), "traceback": _traceback_of(error)}


def _text_of(error):
    try:
        return str(error)
    except Exception as second:  # __str__ is the user's code as well
        return f"<{type(error).__name__} whose text cannot be shown: {type(second).__name__}>"


def _traceback_of(error):
    """Without the frames of this package, which the user did not write."""
    try:
        shown = traceback.TracebackException(type(error), error, _own_frames_dropped(error.__traceback__))
        return "".join(shown.format())
    except Exception as second:  # an error object may break every formatter
        return f"{type(error).__name__} (its traceback cannot be shown: {type(second).__name__})\n"


def _own_frames_dropped(trace):
    while trace is not None and _HERE in trace.tb_frame.f_code.co_filename:
        trace = trace.tb_next
    return trace
