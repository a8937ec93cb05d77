"""
Writes an index of the docstrings of installed libraries to stdout, as JSON: the names that code may call, with
signature and the first lines of documentation.

    python3 docstrings.py                    the template's libraries
    python3 docstrings.py "openpyxl>=3" ...  the template's libraries and the libraries of these pip requirements

{"format": 1, "built": "2026-11-22", "python": "3.12.1", "libraries": {"pandas": {"version": "3.1.1", "also": ["pd"],
"entries": [[name, signature, documentation], ...]}}}. A library that cannot be imported is left out and named on
stderr.
"""

import importlib
import importlib.metadata
import inspect
import json
import platform
import re
import sys
import warnings
from datetime import datetime, timezone

LONGEST_TEXT = 420
LONGEST_SIGNATURE = 240


def within(package, names):
    return [f"{package}.{name}" if name else package for name in names.split(",")]


# Library -> distribution (None for the standard library), other names of the library, modules with public names.
TEMPLATE = {
    "pymupdf": ("pymupdf", ["fitz"], ["pymupdf", "pymupdf.table"]),
    "pandas": ("pandas", ["pd"], within("pandas", ",api.typing")),
    "requests": ("requests", [], within("requests", ",exceptions,auth")),
    "pillow": ("pillow", ["PIL"], within("PIL", "Image,ImageOps,ImageDraw,ImageFont,ImageFilter,ImageEnhance")),
    "psycopg": ("psycopg", ["psycopg2", "psycopg3", "postgres"], within("psycopg", ",sql,rows,types.json")),
    "imaplib": (None, ["imap"], ["imaplib"]),
    "smtplib": (None, ["smtp"], ["smtplib"]),
    "email": (None, [], within("email", ",message,utils,policy,header,headerregistry")),
    **{name: (None, [], [name]) for name in ("csv", "json", "datetime", "decimal", "re")},
}

# Names that look public but are internal, or that no node would use.
SKIPPED = re.compile(
    r"^pymupdf\.(table\.(?!Table|find_tables$)|(?!open$|paper_|get_tessdata)[a-z_]|[A-Z]+_|JM_|Py[SU]|Page__|"
    r"(Check|Colo|Conversion|Device|Display|Element|Fitz|Graft|Outline|RAISE|TOOLS|TextPage|Update|Walker|Xml))"
    r"|^pandas\.(api\.typing\.(?!DataFrameGroupBy$|Rolling$)|read_(clipboard|feather|gbq|hdf|iceberg|orc|sas|spss|stata)"
    r"|test$|show_|HDFStore|.*Dtype$|(Categorical|Interval|Period|Range|Timedelta)Index)"
    r"|^psycopg\.(Async|Raw|.*FromTicks$|sql\.(?!SQL|Ident|Lit|Place|Compos)|types\.json\.(?!Jsonb?$|set_json))"
    r"|^PIL\..*\.(register_|Supports|[io]32|init$|preinit|deprecate|fromq|is_path)"
    r"|^imaplib\.IMAP4_stream|^email\.policy\.Compat|^decimal\.Context$|^datetime\.tzinfo$"
)

# Methods that are reached through an attribute of a class, such as `series.str.replace`.
REACHED = {"pandas": ("Series.str", "Series.dt")}


def main(requirements):
    warnings.simplefilter("ignore")
    libraries = {}
    for library, (distribution, also, modules) in {**TEMPLATE, **dict(map(required, requirements))}.items():
        try:
            version = importlib.metadata.version(distribution) if distribution else platform.python_version()
            libraries[library] = {"version": version, "also": also, "entries": sorted(entries_of(modules))}
        except Exception as error:
            print(f"{library} is not indexed: {error!r}", file=sys.stderr)
    write(libraries)


def required(line):
    """Turns a pip requirement into a row of TEMPLATE. Its modules are the top-level modules of its distribution."""
    wheel = re.search(r"([^/\\-]+)-[^/\\]*\.whl$", line.strip())
    name = wheel[1] if wheel else re.split(r"[^\w.-]", line.strip(), maxsplit=1)[0]
    owners = importlib.metadata.packages_distributions().items()
    tops = [top for top, names in owners if plain(name) in map(plain, names) and not top.startswith("_")]
    return name.lower(), (name, tops, tops)


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def write(libraries):
    """Writes one entry per line, so that diffs between versions are readable."""
    texts = []
    for library, about in libraries.items():
        entries = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in about.pop("entries"))
        texts.append(f'{json.dumps(library)}: {json.dumps(about)[:-1]}, "entries": [\n{entries}\n]}}')
    today = datetime.now(timezone.utc).date().isoformat()
    print(f'{{"format": 1, "built": "{today}", "python": "{platform.python_version()}", "libraries": {{')
    print(",\n".join(texts) + "\n}}")


def entries_of(modules):
    """Returns (name, signature, documentation) of the public functions, classes and methods, each under one name
    only."""
    tops = {module.split(".")[0] for module in modules}
    things = {}
    for module in modules:
        for name, member in public(importlib.import_module(module)):
            if belongs(tops, member) and not SKIPPED.search(f"{module}.{name}"):
                things.setdefault(id(member), (f"{module}.{name}", member))
    classes = {member for _, member in things.values() if inspect.isclass(member)}
    named = [*things.values(), *reached(modules[0])]
    return [entry for name, member in named for entry in described(name, member, tops, classes) if entry[1] or entry[2]]


def public(owner):
    names = getattr(owner, "__all__", None) if inspect.ismodule(owner) else None
    for name in sorted(names or dir(owner)):
        if not name.startswith("_"):
            try:
                yield name, getattr(owner, name)
            except Exception:
                continue  # This build of the library does not have the attribute.


def belongs(tops, member):
    """True for a function or class that the library defines itself, and does not import."""
    module = getattr(member, "__module__", None) or next(iter(tops))
    return (inspect.isclass(member) or inspect.isroutine(member)) and module.split(".")[0].lstrip("_") in tops


def reached(module):
    for path in REACHED.get(module, ()):
        owner = importlib.import_module(module)
        for part in path.split("."):
            owner = inspect.getattr_static(owner, part)
        yield f"{module}.{path}", getattr(owner, "_accessor", owner)


def described(name, member, tops, classes):
    yield name, signature_of(member), documentation(member)
    if inspect.isclass(member) and not issubclass(member, BaseException):
        for inner, method in public(member):
            if (inspect.isroutine(method) or isinstance(method, property)) and own(member, inner, tops, classes):
                spoken = handed_on(method)
                yield f"{name}.{inner}", signature_of(spoken), documentation(spoken)


def handed_on(method):
    """Returns the function that an undocumented method only calls: `return utils.get_text(self, *args, **kwargs)`."""
    if not inspect.isfunction(method) or method.__doc__:
        return method
    call = re.search(r"^\s*return (\w+)\.(\w+)\(self, .*\*\*kwargs\)\s*$", inspect.getsource(method), flags=re.MULTILINE)
    return getattr(method.__globals__.get(call[1]), call[2], method) if call else method


def own(owner, name, tops, classes):
    """True if the index lists a member with this class. It lists no members that the class inherits from a listed base
    class or from builtins."""
    base = next((base for base in owner.__mro__ if name in vars(base)), object)
    return base is owner or (base not in classes and belongs(tops, base))


def signature_of(member):
    """Returns `(a, b=1) -> Kind`, without the types of parameters; empty for attributes and exceptions."""
    if isinstance(member, property) or (inspect.isclass(member) and issubclass(member, BaseException)):
        return ""
    try:
        signature = inspect.signature(member)
    except (TypeError, ValueError):
        # For functions in C, the first line of the documentation often is the signature.
        first = re.match(r"\w+(\(.*?\).*)", inspect.getdoc(member) or "")
        return first[1][:LONGEST_SIGNATURE] if first else "(...)"
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    text = str(inspect.Signature(bare, return_annotation=signature.return_annotation))
    text = re.sub(r"^\((self|cls|page|/)(, /)?(, )?", "(", re.sub(r"<[^<>]*>", "...", text))
    before, arrow, answer = text.rpartition(" -> ")
    text = before + arrow + (re.sub(r"'|(?:\b\w+\.)+(?=\w)", "", answer) if arrow else answer)
    return text if len(text) <= LONGEST_SIGNATURE else text[: LONGEST_SIGNATURE - 6].rsplit(",", 1)[0] + ", ...)"


def documentation(member):
    """Returns as much of the description and the parameters as fits, without the sections after them."""
    text = re.split(r"(?m)^(?:Returns?|Yields|Raises|See Also|Notes|Examples?)\n-{3,}$", inspect.cleandoc(own_text(member)))[0]
    text = re.sub(r"(?m)^( *)\.\. version\w+::.*(\n\1 +\S.*)*", "", text)
    text = re.sub(r":\w+:`~?([^`]*)`|\.\. \w[\w-]*:: ?", r"\1", text)
    text = re.sub(r"(?m)^Parameters\n-{3,}$", "Parameters:", text)
    lines = [re.sub(r"\s+", " ", part).strip() for part in re.split(r"\n\s*\n", text)]
    whole = "\n".join(filter(None, lines))
    return whole if len(whole) <= LONGEST_TEXT else whole[: LONGEST_TEXT - 4].rsplit(" ", 1)[0] + " ..."


def own_text(member):
    """Returns the docstring of a member. A class uses its own or that of `__init__`, never that of its base class."""
    if not inspect.isclass(member):
        return inspect.getdoc(member) or ""
    made = vars(member).get("__init__")
    text = vars(member).get("__doc__") or (inspect.isfunction(made) and made.__doc__) or ""
    return f"Exception, a kind of {member.__mro__[1].__name__}." if not text and issubclass(member, Exception) else text


if __name__ == "__main__":
    main(sys.argv[1:])
