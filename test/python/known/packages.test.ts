import { importableModules } from "@nova/python";
import { templatePackages } from "@nova/workflow";
import { expect, it } from "vitest";
import { template } from "../support/corpus.ts";

it.each([
  ["requests>=2", "requests"],
  ["Pillow", "PIL"],
  ["psycopg[binary]==3.2", "psycopg"],
  ["pymupdf", "fitz"],
  ["pandas", "numpy"],
  ["beautifulsoup4 ; python_version > '3'", "bs4"],
  ["PyYAML", "yaml"],
  ["my-client~=1.0", "my_client"],
  ["python-nova", "nova"],
])("%s brings the module %s", (line, module) => {
  expect(importableModules([line])).toContain(module);
});

it("takes no line for a package that is none", () => {
  expect(importableModules(["", "# comment", "--index-url x"])).toEqual(importableModules([]));
});

it("knows the template that the corpus is checked with", () => {
  expect(template).toEqual(templatePackages);
});
