import { statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Library, TemplateDocumentation } from "../../../packages/agents/src/knowledge/documentation.ts";

const documentation = new TemplateDocumentation();

describe("the shipped documentation of Python packages", () => {
  it.each([
    ["pymupdf", "extract text", "pymupdf.Page.get_text"],
    ["fitz", "extract tables from page", "pymupdf.Page.find_tables"],
    ["pandas", "read csv with separator", "pandas.read_csv"],
    ["pandas", "group rows and sum", "pandas.api.typing.DataFrameGroupBy.sum"],
    ["pd", "DataFrame.to_dict", "pandas.DataFrame.to_dict"],
    ["pandas", "Series.str.replace", "pandas.Series.str.replace"],
    ["PIL", "resize image", "PIL.Image.Image.resize"],
    ["PIL.ImageOps", "how to rotate by exif orientation", "PIL.ImageOps.exif_transpose"],
    ["requests", "post json", "requests.post"],
    ["psycopg", "execute query with parameters", "psycopg.Cursor.execute"],
    ["psycopg2", "jsonb", "psycopg.types.json.Jsonb"],
    ["imaplib", "IMAP4.uid", "imaplib.IMAP4.uid"],
    ["smtplib", "starttls", "smtplib.SMTP.starttls"],
    ["email", "iter attachments", "email.message.EmailMessage.iter_attachments"],
    ["email.message", "message_from_bytes", "email.message_from_bytes"],
    ["csv", "dict reader", "csv.DictReader"],
    ["json", "loads", "json.loads"],
    ["datetime", "parse string to date", "datetime.datetime.strptime"],
    ["decimal", "quantize", "decimal.Decimal.quantize"],
    ["re", "find all matches", "re.findall"],
  ])("answers, for the package %s, the query %j with the page of %s", (library, query, name) => {
    const { text, found } = documentation.search(library, query);
    expect(found).toContain(name);
    expect(text).toContain(`\n${name}`);
    expect(text.length).toBeLessThanOrEqual(1200);
  });

  it("returns at the top the page that the query names, with version, signature and description", () => {
    const { text } = documentation.search("pandas", "DataFrame.to_dict()");
    expect(text).toMatch(/^pandas \d+\.\d+\S*\n\npandas\.DataFrame\.to_dict\(orient='dict'.*\n.*dictionary/);
  });

  it("shows a page without a signature as an attribute or class", () => {
    expect(documentation.search("requests", "Response.ok").text).toContain(
      "requests.Response.ok (attribute or class)\n",
    );
  });

  it("is smaller than 1.5 MB, so that it fits into a Lambda bundle", () => {
    const file = new URL("../../../packages/agents/src/knowledge/shelf/docstrings.json", import.meta.url);
    expect(statSync(file).size).toBeLessThan(1_500_000);
  });
});

describe("a search in the documentation of Python packages", () => {
  it("lists the known packages if the package is unknown", () => {
    expect(documentation.search("beautifulsoup", "find all")).toEqual({
      text: 'There is no documentation of "beautifulsoup" here - there is some of: pymupdf, pandas, requests, pillow, psycopg, imaplib, smtplib, email, csv, json, datetime, decimal, re.',
      found: [],
    });
  });

  it.each(["zzzqqq", "how to use", "", "pandas"])("reports that nothing matches the query %j", (query) => {
    const { text, found } = documentation.search("pandas", query);
    expect(found).toEqual([]);
    expect(text).toMatch(/^pandas \S+ has nothing about ".*" - ask with other words, or for the name of a function/);
  });

  it.each([["x".repeat(5000), "y"] as const, ["csv", "q".repeat(5000)] as const])(
    "returns a short text even for a long package name or query",
    (library, query) => {
      expect(documentation.search(library, query).text.length).toBeLessThan(300);
    },
  );
});

describe("a Python package in the documentation", () => {
  const entries = (...names: string[]) => names.map((name): [string, string, string] => [name, "()", `Does ${name}.`]);

  it("is found by its aliases and by its modules, in upper or lower case", () => {
    const library = new Library("pillow", { version: "1", also: ["PIL"], entries: [] });
    const names = ["pillow", "PIL", "pil", " PIL.Image ", "pill", "image", ""];
    expect(names.filter((name) => library.isCalled(name))).toEqual(["pillow", "PIL", "pil", " PIL.Image "]);
  });

  it("has search results that list a member of a large class before a member of a small class", () => {
    const large = ["Page.a", "Page.b", "Page.c", "Page.d"].map((name) => `lib.${name}`);
    const library = new Library("lib", {
      version: "1",
      also: [],
      entries: entries("lib.Aux.show", "lib.Page.show", ...large),
    });
    expect(library.search("show")[0]?.name).toBe("lib.Page.show");
  });

  it("has search results that do not depend on plurals, camel case and snake case, so that get_table finds getTables", () => {
    const library = new Library("lib", { version: "1", also: [], entries: entries("lib.getTables", "lib.other") });
    expect(library.search("get_table").map(({ name }) => name)).toEqual(["lib.getTables"]);
  });
});

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-docstrings-"));
  const entries = [["openpyxl.load_workbook", "(filename)", "Open the given filename and return the workbook."]];
  const index = { format: 1, built: "2026-11-22", python: "3.12.1" };
  const libraries = { openpyxl: { version: "3.1.5", also: [], entries } };
  await writeFile(join(folder, "nova-12ab.json"), JSON.stringify({ ...index, libraries }));
  await writeFile(join(folder, "nova-later.json"), JSON.stringify({ ...index, format: 2, libraries }));
});

afterAll(() => rm(folder, { recursive: true }));

it("the search in the documentation uses the index of the workflow's template", () => {
  const documentation = new TemplateDocumentation(folder);
  expect(documentation.search("openpyxl", "open workbook", "nova-12ab")).toEqual({
    text: "openpyxl 3.1.5\n\nopenpyxl.load_workbook(filename)\nOpen the given filename and return the workbook.",
    found: ["openpyxl.load_workbook"],
  });
});

it.each([undefined, "nova", "../nova-12ab", ""])(
  "the search in the documentation uses the shipped index for the template %j",
  (template) => {
    const documentation = new TemplateDocumentation(folder);
    expect(documentation.search("json", "loads", template).found).toContain("json.loads");
    expect(documentation.search("openpyxl", "open", template).found).toEqual([]);
  },
);

it("the search in the documentation uses the shipped index if no folder for indexes is set", () => {
  expect(new TemplateDocumentation().search("openpyxl", "open", "nova-12ab").found).toEqual([]);
});

it("the search in the documentation refuses an index of a newer format", () => {
  const documentation = new TemplateDocumentation(folder);
  expect(() => documentation.search("openpyxl", "open", "nova-later")).toThrow(/expected 1/);
});
