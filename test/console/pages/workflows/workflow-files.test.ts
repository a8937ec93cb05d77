import { describe, expect, it } from "vitest";
import { deriveSlug, readWorkflowFiles } from "../../../../packages/console/src/pages/workflows/workflow-files.ts";

describe("files that a user drops", () => {
  const definition = JSON.stringify({ nodes: [{ id: "a", codeFile: "nodes/a.py" }], edges: [] });

  it("become a workflow with the code that its definition names and the modules of lib/", () => {
    const files = [
      { name: "input.json", text: "{}" },
      { name: "workflow.json", text: definition },
      { name: "a.py", text: "pass" },
      { name: "bills/lib/money.py", text: "x = 1" },
      { name: "notes.txt", text: "no" },
    ];
    expect(readWorkflowFiles(files)).toEqual({ definition, files: { "nodes/a.py": "pass", "lib/money.py": "x = 1" } });
  });

  it("become no workflow if there is no definition, or if the definition is no JSON object", () => {
    expect(readWorkflowFiles([{ name: "input.json", text: '{"a": 1}' }])).toBeUndefined();
    expect(readWorkflowFiles([{ name: "workflow.json", text: "[1]" }])).toBeUndefined();
    expect(readWorkflowFiles([{ name: "workflow.json", text: '{"nodes": [' }])).toBeUndefined();
  });
});

it.each([
  ["Monthly report", "monthly-report"],
  ["  Über Größe! ", "uber-gro-e"],
  ["---", ""],
])("the id of a workflow named %s is %s", (name, slug) => {
  expect(deriveSlug(name)).toBe(slug);
});
