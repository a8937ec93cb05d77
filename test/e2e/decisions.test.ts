import { Sandbox } from "@e2b/code-interpreter";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entryOf, inARow, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";
import { countingServer } from "../support/counting-server.ts";

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await openTestCloud();
});

afterAll(async () => {
  await cloud.close();
});

/**
 * Builds a workflow with one decision. It has one edge for each of `conditions`; the edges lead to the nodes `to0`,
 * `to1` and so on.
 */
function decisionOn(conditions: unknown[], code = "context['branch_decision'] = context['choice']"): object {
  const targets = conditions.map((condition, index) => ({ condition, to: `to${index}` }));
  return {
    id: "decide",
    nodes: [
      { id: "start", type: "start" },
      { id: "choose", type: "decision", code },
      ...targets.map(({ to }) => ({ id: to, type: "end" })),
    ],
    edges: [{ from: "start", to: "choose" }, ...targets.map((target) => ({ from: "choose", ...target }))],
  };
}

/**
 * Conditions of a decision, each list with values that the decision's code may choose. Each value has the condition of
 * the edge that the run then follows, or the error message.
 */
const rules: [conditions: unknown[], choices: [json: string, edge: unknown][]][] = [
  [
    ["high", "low"],
    [
      ['"low"', "low"],
      ['"Low"', /no edge for .*"Low".* "high", "low"; add an edge with "default"/],
    ],
  ],
  [
    [true, false],
    [
      ["true", true],
      ['"True"', true],
      ["1", true],
      ['"false"', false],
      ["0", false],
      ["2", /no edge for branch_decision 2 - .*true, false/],
      ["null", /null/],
    ],
  ],
  [
    ["True", "false"],
    [
      ["true", "True"],
      ["0", "false"],
    ],
  ],
  [
    [1, 2.5, "default"],
    [
      ["1", 1],
      ["1.0", 1],
      ["2.50", 2.5],
      ['"1"', "default"],
      ["true", "default"],
      ['"default"', "default"],
      ["[1]", "default"],
    ],
  ],
  [
    [true, 0, "default"],
    [
      ["1", "default"],
      ["0", 0],
      ['"TRUE"', true],
    ],
  ],
];

describe("a decision", () => {
  it.each(rules)(
    "with edges for %j takes the edge that matches its value, and fails with a list of the edges if none matches",
    async (conditions, choices) => {
      const version = await cloud.publish(decisionOn(conditions));
      const taken = choices.map(async ([json, edge]) => {
        const trace = await cloud.run(version, `{"choice": ${json}}`);
        const entry = entryOf(trace, "choose");
        if (edge instanceof RegExp) return expect(entry.error_message).toMatch(edge);
        expect([json, trace.path, entry.decision_result]).toEqual([
          json,
          ["start", "choose", `to${conditions.indexOf(edge)}`],
          String(edge),
        ]);
      });
      await Promise.all(taken);
    },
  );

  it("fails if its own code sets no `branch_decision`, even if an earlier node has set this key", async () => {
    const decideB = { type: "decision", code: "context['branch_decision'] = 'b'" };
    const copies = "seen = context.get('branch_decision')\nprint(seen)\nif seen: context['branch_decision'] = seen";
    const version = await cloud.publish({
      id: "stale",
      nodes: [
        { id: "start", type: "start" },
        { id: "set", ...decideB, type: "action" },
        { id: "first", ...decideB },
        { id: "second", type: "decision", code: copies },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "set" },
        { from: "set", to: "first" },
        { from: "first", to: "second", condition: "b" },
        { from: "first", to: "end", condition: "default" },
        { from: "second", to: "end", condition: "b" },
        { from: "second", to: "end", condition: "default" },
      ],
    });
    const trace = await cloud.run(version);
    expect(trace.path).toEqual(["start", "set", "first", "second"]);
    const { error_message, logs } = entryOf(trace, "second");
    expect({ error_message, logs }).toEqual({
      error_message: 'the decision did not set context["branch_decision"] - set it to one of "b", "default"',
      logs: "None\n",
    });
  });

  it("makes the run continue at its onError if its code fails", async () => {
    const definition = decisionOn(
      ["a", "default"],
      "if len(context) < 2: raise ValueError('cannot decide')\ncontext['branch_decision'] = 'a'",
    ) as {
      nodes: object[];
      edges: object[];
    };
    Object.assign(definition.nodes[1] as object, { onError: "rescue" });
    definition.nodes.push({ id: "rescue", type: "action", code: "context['why'] = context['error']['message']" });
    definition.edges.push({ from: "rescue", to: "to1" });
    const trace = await cloud.run(await cloud.publish(definition));
    expect(trace.path).toEqual(["start", "choose", "rescue", "to1"]);
    expect(JSON.parse(trace.context.text)).toMatchObject({ why: "ValueError: cannot decide" });
  });
});

describe("a node that fails", () => {
  it("ends the run as failed, without the changes that its code made to the context", async () => {
    const trace = await cloud.run(
      await cloud.publish(
        inARow("fails", {
          first: "context['a'] = 1",
          bad: "context['a'] = 2\nopen('/nowhere')",
          never: "context['a'] = 3",
        }),
      ),
    );
    expect(trace.execution).toMatchObject({ status: "failed", error: { node: "bad", class: "NodeFailed" } });
    expect([trace.path, trace.context.text]).toEqual([["start", "first", "bad"], '{"a":1}']);
    const { traceback, code_executed, input_context } = entryOf(trace, "bad");
    expect(traceback).toMatch(/bad\.py", line 2/);
    expect([code_executed?.slice(0, 16), input_context?.text]).toEqual(["context['a'] = 2", '{"a":1}']);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("passes its error only to its onError node", async () => {
    const nodes = {
      bad: { code: "context['lost'] = 1\nraise KeyError('total')", onError: "rescue" },
      skipped: "context['skipped'] = True",
      rescue: "context['seen'] = context['error']",
      after: "context['still'] = 'error' in context",
    };
    const trace = await cloud.run(await cloud.publish(inARow("rescue", nodes)));
    expect([trace.execution.status, trace.path]).toEqual(["completed", ["start", "bad", "rescue", "after", "end"]]);
    expect(JSON.parse(trace.context.text)).toEqual({
      seen: {
        node: "bad",
        class: "NodeFailed",
        message: "KeyError: 'total'",
        traceback: expect.stringContaining("bad.py"),
      },
      still: false,
    });
    expect(entryOf(trace, "bad")).toMatchObject({ status: "failed", path_taken: "rescue" });
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("passes its error to its onError node even if the context has a key `error` of its own", async () => {
    const nodes = {
      own: "context['error'] = 'own'",
      bad: { code: "1 / 0", onError: "rescue" },
      rescue: "context['seen'] = context['error']['class']",
      after: "context['again'] = context['error']",
    };
    const { context } = await cloud.run(await cloud.publish(inARow("own-error", nodes)));
    expect(JSON.parse(context.text)).toEqual({ error: "own", seen: "NodeFailed", again: "own" });
  });

  it("makes the run continue at the end node if its onError names the end node", async () => {
    const trace = await cloud.run(await cloud.publish(inARow("to-end", { bad: { code: "1 / 0", onError: "end" } })));
    expect([trace.execution.status, trace.path]).toEqual(["completed", ["start", "bad", "end"]]);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it.each([
    ["is retried if it declares `effects: false`, with each attempt in the chain", 3, "completed"],
    ["is retried only until its number of attempts is reached", 2, "failed"],
  ])("%s", async (_what, attempts, status) => {
    await using server = await countingServer();
    const code = `import urllib.request
tries = int(urllib.request.urlopen('${server.url}/try').read())
print('try', tries)
if tries < 3: raise RuntimeError(f'not yet: {tries}')
context['tries'] = tries`;
    const retry = { attempts, delay: 0 };
    const trace = await cloud.runCode(code, { node: { effects: false, retry, ...server.reach } });
    const { steps, attempt, error_message } = entryOf(trace);
    expect([trace.execution.status, server.count("/try"), attempt]).toEqual([status, attempts, attempts]);
    expect(steps.map((step) => [step.attempt_number, step.status, step.error_message, step.logs])).toEqual(
      // In both cases the entry has two failed attempts as steps. The entry of a failed node lists its last attempt,
      // too.
      Array.from({ length: 2 }, (_, n) => [n + 1, "failed", `RuntimeError: not yet: ${n + 1}`, `try ${n + 1}\n`]),
    );
    expect(error_message).toBe(status === "failed" ? "RuntimeError: not yet: 2" : null);
    expect(await verified(cloud, trace)).toBe("anchored");
  });
});

it("a node with `isolation: fresh` runs in a sandbox of its own", async () => {
  const own = { code: "context['n'] = 1", isolation: "fresh" };
  const trace = await cloud.run(await cloud.publish(inARow("fresh", { before: "x = 1", own, after: "x = 1" })));
  expect(trace.execution.status).toBe("completed");
  const [before, fresh, after] = ["before", "own", "after"].map((node) => entryOf(trace, node).sandbox_id);
  expect(after).toBe(before);
  expect(fresh).not.toBe(before);
  await expect(Sandbox.getInfo(fresh ?? "")).rejects.toMatchObject({ name: "SandboxNotFoundError" });
});
