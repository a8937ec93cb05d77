import { describe, expect, it } from "vitest";
import { compileSent } from "../../packages/compiler/src/compile-sent.ts";
import { compileWorkflow } from "../../packages/compiler/src/index.ts";

function sent(fields: object, code = 'context["a"] = 1') {
  const nodes = [
    { id: "start", type: "start" },
    { id: "add", type: "action", code },
    { id: "end", type: "end" },
  ];
  const edges = [
    { from: "start", to: "add" },
    { from: "add", to: "end" },
  ];
  return { text: JSON.stringify({ name: "sums", nodes, edges, ...fields }), fileName: "workflow.json", files: {} };
}

describe("a sent definition", () => {
  it("compiles to the same state machine as a local one", async () => {
    const source = sent({ inputs: { properties: { b: { type: "number" } } } });
    expect(await compileSent(source)).toEqual(await compileWorkflow(source));
  });

  it("is stopped with a finding for 760 KB of additions in a node", async () => {
    const { findings } = await compileSent(sent({}, `x = ${Array(380_000).fill("1").join("+")}`));
    const message = expect.stringMatching(
      /^node "add": the code has 760,003 characters, at most 200,000 are checked - /,
    );
    expect(findings).toMatchObject([{ code: "NOVA607", path: "$.nodes[1].code", message }]);
  });

  it("is stopped with a finding for a schema of nested alternatives", async () => {
    let inputs: object = { required: ["a"] };
    for (let level = 0; level < 200; level++) inputs = { anyOf: [inputs, { required: ["b"] }] };
    const { findings } = await compileSent(sent({ inputs }));
    const message = expect.stringMatching(/^inputs: the schema goes more than 60 levels deep - /);
    expect(findings).toMatchObject([{ code: "NOVA501", message }]);
  });

  it("does not block the event loop during its check", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await compileSent(sent({}, "context['a'] = 1\n".repeat(10_000)));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });

  it("has its first findings in the answer, errors first, with the number of the others", async () => {
    const unknown = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`field${i}`, 1]));
    const { findings, workflow } = await compileSent(sent(unknown));
    expect(workflow).toBeUndefined();
    expect(findings).toHaveLength(501);
    expect(findings.at(-1)).toMatchObject({ code: "NOVA115", message: expect.stringContaining("2,500 findings more") });
  });
});
