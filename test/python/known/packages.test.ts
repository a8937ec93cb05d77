import { listImportableModules } from "@nova/python";
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
])("the package %s provides the module %s", (line, module) => {
  expect(listImportableModules([line])).toContain(module);
});

it("a line without a package provides no modules", () => {
  expect(listImportableModules(["", "# comment", "--index-url x"])).toEqual(listImportableModules([]));
});

it("the corpus is checked with the packages of the sandbox template", () => {
  expect(template).toEqual(templatePackages);
});
