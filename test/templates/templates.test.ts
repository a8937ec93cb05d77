import { readFileSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fillTemplate, templateNames, templates } from "@nova/templates";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dataFile, readTemplates } from "../../packages/templates/generate/templates.ts";
import { newFolder, nova } from "../cli/support/nova.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await newFolder();
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

it("templates.json is up to date with the folders of the templates (npm run generate -w @nova/templates)", () => {
  expect(JSON.parse(readFileSync(dataFile, "utf8"))).toEqual(readTemplates());
});

describe.each(templateNames)("the template %s", (name) => {
  it("lets nova init make a valid workflow with a first context, tests, and instructions for agents", async () => {
    const { code, stdout } = await nova(cwd, "init", `my-${name}`, "--template", name);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`nova run my-${name} --context my-${name}/input.json`)]);
    const written = await readdir(join(cwd, `my-${name}`), { recursive: true });
    expect(written).toEqual(
      expect.arrayContaining(["AGENTS.md", ".agents/skills/nova/SKILL.md", "input.json", "tests", "workflow.json"]),
    );
    expect((await nova(cwd, "validate", `my-${name}`)).code).toBe(0);
    const definition = JSON.parse(await readFile(join(cwd, `my-${name}/workflow.json`), "utf8"));
    expect(definition).toMatchObject({ id: `my-${name}`, name: `my-${name}` });
    for (const { type, id } of definition.triggers ?? []) expect([type, id]).toEqual(["webhook", `my-${name}`]);
  });

  it("passes its own tests, which need no network, no key and no model", async () => {
    const { code, stdout } = await nova(cwd, "test", `my-${name}`, "--json");
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ failed: 0, stale: 0 })]);
    expect(JSON.parse(stdout).passed).toBeGreaterThan(0);
  });

  it("has a title and a description", () => {
    expect(templates[name]).toMatchObject({ name, title: expect.stringMatching(/^[A-Z]/) });
    expect(templates[name].description).not.toBe("");
  });
});

describe("nova init", () => {
  it("names the folder and the workflow after the template if the user names no folder", async () => {
    expect((await nova(cwd, "init", "--template", "report")).code).toBe(0);
    const { id, name } = JSON.parse(await readFile(join(cwd, "report/workflow.json"), "utf8"));
    expect([id, name]).toEqual(["report", "Report"]);
  });

  it("lists the templates if the user names an unknown template", async () => {
    const { code, stderr } = await nova(cwd, "init", "x", "--template", "bill");
    expect([code, stderr]).toEqual([2, expect.stringContaining("hello, invoice, approval, webhook, report, chain")]);
  });

  it("refuses --typescript with any other template than hello", async () => {
    const { code, stderr } = await nova(cwd, "init", "x", "--template", "report", "--typescript");
    expect([code, stderr]).toEqual([2, expect.stringContaining("leave out one of the two options")]);
    expect(await readdir(cwd)).not.toContain("x");
  });
});

it("fillTemplate writes a name with quotes and dollar signs as a correct JSON string", () => {
  const { "workflow.json": text = "" } = fillTemplate(templates.hello, { id: "a", name: 'A "b" $& c' });
  expect(JSON.parse(text)).toMatchObject({ id: "a", name: 'A "b" $& c' });
});
