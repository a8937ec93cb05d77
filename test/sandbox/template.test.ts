import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sandboxTemplate } from "@nova/sandbox";
import { templatePackages } from "@nova/workflow";
import { Template } from "e2b";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { promisedModules } from "../../packages/local/src/cloud/python-packages.ts";

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

describe("the documentation index of a template", () => {
  it("contains the Python libraries of the template with their versions", () => {
    expect(index).toMatchObject({ format: 1, built: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
    expect(Object.keys(index.libraries)).toEqual(expect.arrayContaining(["imaplib", "smtplib", "email", "csv", "re"]));
    expect(index.libraries.json?.version).toMatch(/^3\.\d+\.\d+/);
  });

  it("contains a library that the workflow requires, under its pip name and its import name", () => {
    expect(index.libraries["paper-books"]).toMatchObject({ version: "2.1", also: ["paper_books"] });
  });

  it("leaves out libraries that are not installed, and names them on stderr", () => {
    expect(Object.keys(index.libraries)).not.toContain("not-there");
    expect(warnings).toMatch(/^not-there is not indexed: PackageNotFoundError/m);
  });
});

describe("an item of the documentation index", () => {
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
  ])("has the signature and the docstring of %s", (name, entry) => {
    expect(entries[name]).toEqual(entry);
  });

  it.each(["Sheet.save", "Sheet._hidden", "loads", "os", "Broken.args", "_Mixin"])(
    "does not exist for %s, which is inherited, private or imported",
    (name) => {
      expect(entries).not.toHaveProperty([`paper_books.${name}`]);
    },
  );

  it("contains only the start of a long docstring", () => {
    const text = entries["paper_books.Book"]?.[1] as string;
    expect(text).toMatch(/^A book\. It has many pages\..* \.\.\.$/);
    expect(text.length).toBeLessThanOrEqual(420);
  });
});

type Rendered = {
  fromTemplate: string;
  startCmd?: string;
  steps: { type: string; args: string[]; filesHash?: string }[];
};

async function render(requirements: string[]): Promise<Rendered> {
  return JSON.parse(await Template.toJSON(await sandboxTemplate(requirements)));
}

test("a template extends E2B's code interpreter and keeps its start command", async () => {
  const { fromTemplate, startCmd } = await render([]);
  expect([fromTemplate, startCmd]).toEqual(["code-interpreter-v1", undefined]);
});

test("a template installs its own packages and the workflow's, and passes each to the shell as one word", async () => {
  const { steps } = await render(["numpy>=2; python_version > '3.9'"]);
  expect(steps[0]).toMatchObject({ type: "RUN" });
  expect(steps[0]?.args[0]).toBe(
    `pip install 'pymupdf<2' 'pandas<4' 'requests<3' 'pillow<14' 'psycopg[binary]<4' 'numpy>=2; python_version > '\\''3.9'\\'''`,
  );
});

test("a template installs the workflow's version of a package in place of its own version", async () => {
  const { steps } = await render(["PyMuPDF == 2.0", "psycopg[binary,pool]>=3.2", "pandas-stubs"]);
  expect(steps[0]?.args[0]).toBe(
    "pip install 'pandas<4' 'requests<3' 'pillow<14' 'PyMuPDF == 2.0' 'psycopg[binary,pool]>=3.2' pandas-stubs",
  );
});

test("a template indexes the docstrings of its packages after all packages are installed", async () => {
  const { steps } = await render(["numpy>=2"]);
  expect(steps.slice(0, 3).map(({ type }) => type)).toEqual(["RUN", "COPY", "RUN"]);
  const [index] = steps[2]?.args ?? [];
  expect(index).toBe("python3 /usr/local/lib/nova/docstrings.py 'numpy>=2' > /usr/local/lib/nova/docstrings.json");
});

test("a template starts a warm Python process as a service, from files that it contains", async () => {
  const { steps } = await render([]);
  const copied = steps.filter(({ type }) => type === "COPY");
  expect(copied.map(({ args }) => args[0])).toEqual(["docstrings.py", "warm.py", "nova-warm.service"]);
  expect(copied.every(({ filesHash }) => filesHash)).toBe(true);
  expect(steps.at(-1)?.args[0]).toContain("multi-user.target.wants");
});

test("the warm Python process imports the packages of a local sandbox and those of the template", () => {
  const warm = readFileSync(new URL("../../packages/sandbox/template/warm.py", import.meta.url), "utf8");
  for (const name of promisedModules) expect(warm).toMatch(new RegExp(`\\b${name}\\b`));
  expect(templatePackages).toHaveLength(promisedModules.length);
});
