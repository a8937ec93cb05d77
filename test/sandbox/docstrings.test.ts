import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const script = fileURLToPath(new URL("../../packages/sandbox/template/docstrings.py", import.meta.url));

/** An installed library with the constructs that libraries use. */
const source = `
from json import loads
import os

__version__ = "ignored"


class Base:
    """What all sheets share."""

    def save(self, path: str, *, overwrite: bool = False) -> "Base":
        """Saves it.

        Parameters
        ----------
        path : str
            Where to.

        Returns
        -------
        Base
            Itself.
        """

    @property
    def title(self):
        """Its name."""


class Sheet(Base):
    def __init__(self, rows=()):
        """A sheet of rows."""

    def add(self, row, style=object()):
        """Adds a row.

        .. versionadded:: 2.0
            With styles.
        """

    def _hidden(self):
        """Not for others."""


class _Mixin:
    def close(self):
        """Closes it."""


class Book(_Mixin):
    """A book. ${"It has many pages. ".repeat(40)}"""

    def handed(self, *args, **kwargs):
        return helpers.handed(self, *args, **kwargs)


class Broken(ValueError):
    pass


class helpers:
    def handed(book, depth=3):
        """What the book hands on."""


def open_book(path):
    """Opens a :class:\`Book\`."""
`;

let folder: string;
let index: { format: number; built: string; libraries: Record<string, { version: string; also: string[] }> };
let entries: Record<string, [string, string]>;
let warnings: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-docstrings-"));
  await writeFile(join(folder, "paper_books.py"), source);
  const about = join(folder, "Paper_Books-2.1.dist-info");
  await mkdir(about);
  await writeFile(join(about, "METADATA"), "Metadata-Version: 2.1\nName: Paper-Books\nVersion: 2.1\n");
  await writeFile(join(about, "RECORD"), "paper_books.py,,\n");
  await writeFile(join(about, "top_level.txt"), "paper_books\n");
  const env = { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
  const python = process.env.NOVA_PYTHON ?? "python3";
  const { stdout, stderr } = await promisify(execFile)(python, [script, "paper-books>=2", "not-there"], { env });
  index = JSON.parse(stdout);
  warnings = stderr;
  const { entries: list } = index.libraries["paper-books"] as unknown as { entries: [string, string, string][] };
  entries = Object.fromEntries(list.map(([name, signature, text]) => [name, [signature, text]]));
});

afterAll(() => rm(folder, { recursive: true }));

describe("the index of docstrings", () => {
  it("contains the template's standard libraries with versions", () => {
    expect(index).toMatchObject({ format: 1, built: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
    expect(Object.keys(index.libraries)).toEqual(expect.arrayContaining(["imaplib", "smtplib", "email", "csv", "re"]));
    expect(index.libraries.json?.version).toMatch(/^3\.\d+\.\d+/);
  });

  it("contains the libraries of a requirement under their names", () => {
    expect(index.libraries["paper-books"]).toMatchObject({ version: "2.1", also: ["paper_books"] });
  });

  it("leaves out missing libraries and reports them", () => {
    expect(Object.keys(index.libraries)).not.toContain("not-there");
    expect(warnings).toMatch(/^not-there is not indexed: PackageNotFoundError/m);
  });
});

describe("an entry", () => {
  it.each<[string, [string, string]]>([
    ["paper_books.open_book", ["(path)", "Opens a Book."]],
    ["paper_books.Base", ["()", "What all sheets share."]],
    ["paper_books.Base.save", ["(path, *, overwrite=False) -> Base", "Saves it.\nParameters: path : str Where to."]],
    ["paper_books.Base.title", ["", "Its name."]],
    ["paper_books.Sheet", ["(rows=())", "A sheet of rows."]],
    ["paper_books.Sheet.add", ["(row, style=...)", "Adds a row."]],
    ["paper_books.Book.close", ["()", "Closes it."]],
    ["paper_books.Book.handed", ["(book, depth=3)", "What the book hands on."]],
    ["paper_books.Broken", ["", "Exception, a kind of ValueError."]],
  ])("of %s", (name, entry) => {
    expect(entries[name]).toEqual(entry);
  });

  it.each(["Sheet.save", "Sheet._hidden", "loads", "os", "Broken.args", "_Mixin"])("is not made for %s", (name) => {
    expect(entries).not.toHaveProperty([`paper_books.${name}`]);
  });

  it("contains the start of a long text", () => {
    const text = entries["paper_books.Book"]?.[1] as string;
    expect(text).toMatch(/^A book\. It has many pages\..* \.\.\.$/);
    expect(text.length).toBeLessThanOrEqual(420);
  });
});
