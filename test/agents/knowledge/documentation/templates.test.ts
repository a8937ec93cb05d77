import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { TemplateDocumentation } from "../../../../packages/agents/src/knowledge/documentation/library.ts";

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

it("the documentation uses the index of the template", () => {
  const documentation = new TemplateDocumentation(folder);
  expect(documentation.search("openpyxl", "open workbook", "nova-12ab")).toEqual({
    text: "openpyxl 3.1.5\n\nopenpyxl.load_workbook(filename)\nOpen the given filename and return the workbook.",
    found: ["openpyxl.load_workbook"],
  });
});

it.each([undefined, "nova", "../nova-12ab", ""])(
  "the documentation uses the shipped index for template %j",
  (template) => {
    const documentation = new TemplateDocumentation(folder);
    expect(documentation.search("json", "loads", template).found).toContain("json.loads");
    expect(documentation.search("openpyxl", "open", template).found).toEqual([]);
  },
);

it("the documentation uses the shipped index without a folder", () => {
  expect(new TemplateDocumentation().search("openpyxl", "open", "nova-12ab").found).toEqual([]);
});

it("the documentation refuses an index of a newer format", () => {
  const documentation = new TemplateDocumentation(folder);
  expect(() => documentation.search("openpyxl", "open", "nova-later")).toThrow(/expected 1/);
});
