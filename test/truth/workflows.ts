import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../support/imports.ts";

interface Node {
  id: string;
  [field: string]: unknown;
}

type Edge = [from: string, to: string, condition?: string | boolean, more?: object];

const start = { id: "start", type: "start" };
const end = { id: "end", type: "end" };

function code(id: string, text: string, more: object = {}): Node {
  return { id, type: "action", code: text, ...more };
}

function decision(id: string, text: string): Node {
  return { id, type: "decision", code: `context["branch_decision"] = ${text}` };
}

function edges(all: readonly Edge[]) {
  return all.map(([from, to, condition, more]) => ({
    from,
    to,
    ...(condition !== undefined && { condition }),
    ...more,
  }));
}

/** Builds a workflow with these nodes and edges, and with a start and an end. */
function graph(id: string, nodes: Node[], between: readonly Edge[], more: object = {}) {
  return { id, name: id, nodes: [start, ...nodes, end], edges: edges(between), ...more };
}

/** Builds a workflow whose nodes run one after the other. */
function row(id: string, nodes: Node[], more: object = {}) {
  const ids = ["start", ...nodes.map((node) => node.id), "end"];
  return graph(
    id,
    nodes,
    ids.slice(1).map((to, place) => [ids[place] as string, to]),
    more,
  );
}

const numbers = { properties: { n: { type: "integer" } } };

/**
 * The workflows that both NOVAs run, by the name of their folder. Each workflow tests another kind of path, such as
 * branches, a loop or a failure.
 */
export const workflows = {
  "truth-parallel": graph(
    "truth-parallel",
    [
      code("read", 'context["n"] = 3'),
      code("left", 'context["left"] = context["n"] * 2'),
      decision("which", '"odd" if context["n"] % 2 else "even"'),
      code("odd", 'context["right"] = "odd"'),
      code("even", 'context["right"] = "even"'),
      code("bad", 'raise ValueError("no")', { onError: "mend" }),
      code("mend", 'context["mended"] = context["error"]["class"]'),
      code("join", 'context["all"] = [context["left"], context["right"], context["mended"]]'),
    ],
    [
      ["start", "read"],
      ["read", "left"],
      ["read", "which"],
      ["read", "bad"],
      ["which", "odd", "odd"],
      ["which", "even", "even"],
      ["left", "join"],
      ["odd", "join"],
      ["even", "join"],
      ["bad", "join"],
      ["mend", "join"],
      ["join", "end"],
    ],
  ),
  "truth-map": row("truth-map", [
    code("list", 'context["numbers"] = [1, 2, 0, 4]\ncontext["empty"] = []'),
    {
      id: "each",
      type: "map",
      items: "numbers",
      max_concurrency: 2,
      tolerated_failures: 1,
      nodes: [
        code("divide", 'context["quotient"] = 12 // context["item"]'),
        decision("big", 'context["quotient"] > 4'),
        code("large", 'context["size"] = "large"'),
        code("small", 'context["size"] = "small"'),
      ],
      edges: edges([
        ["divide", "big"],
        ["big", "large", true],
        ["big", "small", false],
      ]),
    },
    code("sum", 'context["sizes"] = [one.get("size", "failed") for one in context["results"]]'),
    { id: "none", type: "map", items: "empty", nodes: [code("never", "pass")], edges: [] },
  ]),
  "truth-wide": row("truth-wide", [
    code("list", 'context["numbers"] = list(range(45))'),
    {
      id: "each",
      type: "map",
      items: "numbers",
      max_concurrency: 4,
      nodes: [code("square", 'context["square"] = context["item"] ** 2')],
      edges: [],
    },
  ]),
  "truth-loop": graph(
    "truth-loop",
    [
      code("ask", 'context["tries"] = context.get("tries", 0) + 1'),
      decision("check", '"done" if context["tries"] >= context["n"] else "again"'),
      code("send", 'context["sent"] = True'),
      code("give_up", 'context["sent"] = False'),
    ],
    [
      ["start", "ask"],
      ["ask", "check"],
      ["check", "ask", "again", { max: 3 }],
      ["check", "send", "done"],
      ["check", "give_up", "default"],
      ["send", "end"],
      ["give_up", "end"],
    ],
    { inputs: numbers },
  ),
  "truth-wait": row("truth-wait", [
    { id: "pause", type: "wait", seconds: 1 },
    code(
      "soon",
      "import datetime as d\nat = d.datetime.now(d.timezone.utc) + d.timedelta(seconds=2)\ncontext['at'] = at.strftime('%Y-%m-%dT%H:%M:%SZ')",
    ),
    { id: "moment", type: "wait", until: "{{at}}" },
  ]),
  "truth-expire": graph(
    "truth-expire",
    [
      { id: "ask", type: "approval", message: "Pay?", timeout: 2 },
      code("pay", 'context["paid"] = True'),
      code("remind", 'context["paid"] = None'),
    ],
    [
      ["start", "ask"],
      ["ask", "pay", "approved"],
      ["ask", "pay", "rejected"],
      ["ask", "remind", "timeout"],
      ["pay", "end"],
      ["remind", "end"],
    ],
  ),
  "truth-approval": graph(
    "truth-approval",
    [
      { id: "ask", type: "approval", message: "Pay {{n}}?", timeout: 600 },
      code("pay", 'context["paid"] = True'),
      code("turn_down", 'context["paid"] = False'),
    ],
    [
      ["start", "ask"],
      ["ask", "pay", "approved"],
      ["ask", "turn_down", "rejected"],
      ["pay", "end"],
      ["turn_down", "end"],
    ],
    { inputs: numbers },
  ),
  "truth-fail": row("truth-fail", [
    code("fine", 'context["a"] = 1'),
    code("boom", 'raise RuntimeError("boom")'),
    code("never", "pass"),
  ]),
  "truth-child": row("truth-child", [
    code("list", 'context["n"] = 21\ncontext["numbers"] = [1, 2, 3]'),
    { id: "one", type: "workflow", workflow: "truth-double", input: { n: "n" }, output: { doubled: "doubled" } },
    {
      id: "many",
      type: "map",
      items: "numbers",
      as: "n",
      workflow: "truth-double",
      output: { doubled: "doubled" },
    },
  ]),
  "truth-double": row("truth-double", [code("double", 'context["doubled"] = context["n"] * 2')], { inputs: numbers }),
  "truth-child-fails": graph(
    "truth-child-fails",
    [
      { id: "child", type: "workflow", workflow: "truth-fail", onError: "mend" },
      code("mend", 'context["mended"] = context["error"]["class"]'),
    ],
    [
      ["start", "child"],
      ["child", "end"],
      ["mend", "end"],
    ],
  ),
  "truth-event": row("truth-event", [
    { id: "paid", type: "wait", event: { source: ["bank"] }, timeout: 600 },
    code("after", 'context["got"] = context["paid"]["detail"]'),
  ]),
  "truth-triggers": row(
    "truth-triggers",
    [code("seen", 'context["by"] = sorted(set(context) & {"event", "webhook"})')],
    {
      triggers: [
        { type: "event", pattern: { source: ["shop"], "detail-type": ["Paid"] } },
        { type: "webhook", id: "truth" },
      ],
    },
  ),
  "truth-schedule": row("truth-schedule", [code("seen", 'context["said"] = context["report"]')], {
    triggers: [
      { type: "schedule", cron: "0 9 ? * MON-FRI *", timezone: "Europe/Madrid", context: { report: "daily" } },
    ],
  }),
  "truth-cancel": row("truth-cancel", [
    code("begin", 'context["begun"] = True'),
    { id: "long", type: "wait", seconds: 900 },
    code("never", "pass"),
  ]),
  "truth-values": row("truth-values", [
    code("read", 'context["bytes_read"] = len(context["paper"])\ncontext["large"] = "x" * 700_000'),
    code(
      "use",
      'context["with_password"] = len(context["email_password"]) > 0\ncontext["length"] = len(context["large"])',
    ),
  ]),
  "truth-pinned": row("truth-pinned", [{ id: "sum", type: "action", executor: "prompt", prompt: "Add up the lines." }]),
} as const;

export type WorkflowName = keyof typeof workflows;

/**
 * Writes each workflow into a folder for `nova publish`. Returns the folders in an order in which called workflows
 * precede their callers.
 */
export async function writeWorkflows(into: string): Promise<string[]> {
  const names = Object.keys(workflows) as WorkflowName[];
  const last = (name: string) => Number(name.startsWith("truth-child"));
  names.sort((a, b) => last(a) - last(b));
  for (const name of names) {
    await mkdir(join(into, name), { recursive: true });
    await writeFile(join(into, name, "workflow.json"), JSON.stringify(workflows[name], null, 2));
  }
  // This example contains what the workflows above lack: several Python files, and pinned code of prompts.
  const invoices = join(into, "invoice-ai");
  await cp(join(root, "packages/examples/invoice-ai"), invoices, { recursive: true, dereference: true });
  return [...names.map((name) => join(into, name)), invoices];
}
