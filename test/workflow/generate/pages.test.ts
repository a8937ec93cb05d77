import { readdirSync, readFileSync } from "node:fs";
import { findings } from "@nova/workflow";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { editorSchema, pages } from "../../../packages/workflow/generate/pages.ts";
import { severitiesIn } from "../../support/findings-page.ts";
import { action, approval, child, decision, each, end, graph, row, start, wait } from "../definition.ts";

it.each(pages)("$file is up to date with its generator (npm run generate -w @nova/workflow)", ({ file, text }) => {
  const written = readFileSync(file, "utf8");
  if (file.pathname.endsWith(".json")) expect(JSON.parse(written)).toEqual(JSON.parse(text()));
  else expect(written).toBe(text());
});

it("docs/findings.md explains every code of a finding with its severity", () => {
  expect(severitiesIn("findings.md")).toEqual(findings);
});

it("docs/definition.md has no placeholder that the generator left unfilled", () => {
  const page = pages.find(({ file }) => file.pathname.endsWith("definition.md"))?.text();
  expect(page).not.toMatch(/^\{\{\w+\}\}$|undefined|\[object/m);
});

describe("the JSON schema of definitions, for editors,", () => {
  const validate = new Ajv2020({ strict: false }).compile(editorSchema());
  const fixtures = new URL("../../fixtures/workflows/", import.meta.url);

  it.each(readdirSync(fixtures))("accepts the definition %s", (name) => {
    validate(JSON.parse(readFileSync(new URL(name, fixtures), "utf8")));
    expect(validate.errors).toBeNull();
  });

  it.each([
    ["a misspelt field", row(action("a", { timout: 3 }))],
    ["a field of another type of node", graph([{ ...start, code: "a = 1" }, end], ["start > end"])],
    ["an unknown type", row(action("a", { type: "acton" }))],
    ["a timeout out of range", row(decision("a", { timeout: 90_000 }))],
    ["a misspelt field in the body of a map", row(each("m", [action("a", { timout: 3 })]))],
    ["a malformed duration", row(wait("a", { seconds: "5 min" }))],
    ["a workflow node that names no workflow", row(child("a", { workflow: undefined }))],
    ["an approval without a message", row(approval("a", { message: undefined }))],
    ["an edge without a target", { ...row(), edges: [{ from: "start" }] }],
    ["a workflow without nodes and edges", { name: "x" }],
    ["an unknown type of trigger", { ...row(), triggers: [{ type: "email" }] }],
    ["a field of another type of trigger", { ...row(), triggers: [{ type: "mail", address: "a", every: "1d" }] }],
  ])("refuses %s", (_, definition) => {
    expect(validate(definition)).toBe(false);
  });

  it("accepts a definition with maps, approvals, waits, workflow nodes and branches", () => {
    const map = each("m", [action("a")], [], { tolerated_failures: "10%", max_concurrency: 3, onError: "end" });
    const form = { properties: { reason: { type: "string" } } };
    const events = wait("w", { event: { source: ["shop"], detail: { n: [{ numeric: [">", 1] }] } }, timeout: "3d" });
    validate(
      row(
        map,
        approval("ask", { form, timeout: 60, to: ["a@b.c"] }),
        events,
        action("b", { merge: "last" }),
        child("c"),
      ),
    );
    expect(validate.errors).toBeNull();
  });

  it("has a description for every field", () => {
    const silent: string[] = [];
    const visit = (schema: unknown, path: string) => {
      if (typeof schema !== "object" || schema === null) return;
      for (const [name, inside] of Object.entries((schema as { properties?: object }).properties ?? {})) {
        if (!path.includes("/if") && !(inside as { description?: string }).description) silent.push(`${path}/${name}`);
      }
      for (const [name, inside] of Object.entries(schema)) visit(inside, `${path}/${name}`);
    };
    visit(editorSchema(), "");
    expect(silent).toEqual([]);
  });
});
