import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { namesLargeModules, templateName } from "@nova/workflow";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TemplateDocumentation } from "../../../packages/agents/src/knowledge/documentation.ts";
import type { Python } from "../../../packages/e2b-local/src/python.ts";
import { environmentOf } from "../../../packages/local/src/cloud/environment.ts";
import { findPython } from "../../../packages/local/src/cloud/python-packages.ts";
import { docstringsFolder, indexDocstrings, prepareTemplate } from "../../../packages/local/src/cloud/templates.ts";
import { makeWheel } from "./support/wheel.ts";

let python: Python;
let folder: string;
let wheel: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-docstrings-"));
  python = await findPython([]);
  wheel = await makeWheel(python, folder);
});

afterAll(() => rm(folder, { recursive: true }));

describe("the documentation of the Python packages in a template", () => {
  it("is indexed once, including the packages that the workflow requires", { tags: ["deep"] }, async () => {
    const template = await prepareTemplate(folder, [wheel]);
    const file = join(docstringsFolder(folder), `${template}.json`);
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
      format: 1,
      libraries: { novatiny: { version: "1.0" }, json: { entries: expect.any(Array) } },
    });
    await writeFile(file, "as it was");
    expect(await prepareTemplate(folder, [wheel])).toBe(template);
    expect(await readFile(file, "utf8")).toBe("as it was");
    await rm(file);
    await prepareTemplate(folder, [wheel]);
  });

  it("is found by a search with that template, and not by a search with another template", {
    tags: ["deep"],
  }, async () => {
    const documentation = new TemplateDocumentation(docstringsFolder(folder));
    expect(documentation.search("json", "loads", templateName([wheel])).text).toMatch(`json ${python.version}\n`);
    expect(documentation.search("unknown", "", templateName([wheel])).text).toContain("novatiny");
    expect(documentation.search("unknown", "", "nova").text).not.toContain("novatiny");
  });

  it("is not stored if Python fails to index it, and this failure is ignored", async () => {
    const file = join(folder, "none", "x.json");
    expect(await indexDocstrings({ ...python, path: "/bin/false" }, [], [], file)).toBe(false);
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  it("is found through the environment variable NOVA_DOCSTRINGS", () => {
    const keys = { signingKey: "ab".repeat(32) } as Parameters<typeof environmentOf>[2];
    const endpoints = {} as Parameters<typeof environmentOf>[1];
    expect(environmentOf("/data", endpoints, keys).NOVA_DOCSTRINGS).toBe("/data/docstrings");
  });
});

it("namesLargeModules returns true for code that imports a module of the list LARGE in warming.py, and false for a module of the list SMALL", () => {
  const warming = readFileSync("packages/e2b-local/src/python/nova_sandboxd/warming.py", "utf8");
  const [small = [], large = []] = ["SMALL", "LARGE"].map((name) => {
    const list = new RegExp(`^${name} = \\(\n([^)]+)`, "m").exec(warming)?.[1] ?? "";
    return list.match(/[\w.]+/g) ?? [];
  });
  expect(large).toContain("asyncio");
  expect(large.filter((module) => !namesLargeModules(`import ${module}`))).toEqual([]);
  expect(small).toContain("json");
  expect(small.filter((module) => namesLargeModules(`import ${module}`))).toEqual([]);
});
