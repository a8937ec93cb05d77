import { z } from "zod";
import { defined } from "../defined.ts";
import { longestNodeSeconds } from "../long-node.ts";
import type { Executor, TaskNode } from "../workflow.ts";
import { aiFields } from "./ai.ts";
import { credentialNames, fanOutFields, filledText, flag, NodeId, nodeFields, seconds } from "./fields.ts";
import type { SharedSettings, TaskKind, TaskSource } from "./kind.ts";
import { AuthoredRetry, retryOf } from "./retry.ts";

/** `text` is reserved: understood, and refused. */
export type ExecutorKind = TaskSource["kind"] | "text";

const kinds = new Map<unknown, ExecutorKind>([
  [undefined, "code"],
  ["code", "code"],
  ["e2b", "code"],
  ["prompt", "prompt"],
  ["cached", "prompt"],
  ["text", "text"],
]);

/** Of an `executor` as it was written, or left out; undefined for what is none. */
export function executorKind(written: unknown): ExecutorKind | undefined {
  return kinds.get(written);
}

export function isPrompt(written: unknown): boolean {
  return executorKind(written) === "prompt";
}

/** What a node has whose code runs in a sandbox. */
export const taskFields = {
  executor: z
    .enum(["code", "prompt", "text", "e2b", "cached"], { error: 'must be "code" or "prompt"' })
    .describe(
      "Who does the work: `code` is Python written by hand, `prompt` Python that a model writes. `e2b` and `cached` are older names of the two; `text` is reserved.",
    )
    .default("code"),
  code: filledText("Python source. Exactly one of `code` and `codeFile`.").optional(),
  codeFile: filledText("Python file inside of the workflow's folder, such as `extract.py`.").optional(),
  prompt: filledText("What a model is asked to do; for the executor `prompt`.").optional(),
  promptFile: filledText("File with the prompt, inside of the workflow's folder, such as `extract.md`.").optional(),
  ...aiFields({
    model: "a prompt node; roles that it leaves out have the workflow's",
    limits: "one run of a prompt node",
    ai: "Absent: as the workflow says.",
    network: "the node's code can connect to, besides the workflow's and those of its credentials",
  }),
  timeout: seconds(
    { min: 1, max: longestNodeSeconds },
    "Limit of one run in the sandbox, in seconds: 1 to 86400, default 60; of a prompt node 1 to 600, default 30. Above 840 no Lambda waits for the code; see Long nodes.",
  ).optional(),
  effects: flag(
    "What the code does outside (sends a mail, writes a row), which decides what NOVA may do by itself. `true`: code that has begun is never run again. " +
      "`false`: it changes nothing, so a lost machine repeats it, and its results may be used again. Absent: lost machines repeat nothing, a model's attempts may. What you want repeated yourself is `retry`.",
  ).optional(),
  onError: NodeId.describe("Node to go on with when this one fails, instead of failing the run.").optional(),
  retry: AuthoredRetry.optional(),
  credentials: credentialNames("the node's code gets. Absent: as the workflow says.").optional(),
  isolation: z
    .enum(["fresh", "execution"], { error: 'must be "fresh" or "execution", or be left out' })
    .describe(
      "`fresh` gives the node a sandbox of its own, which no later node uses. `execution`, at any node, keeps the sandboxes of a run to that run: none comes from an earlier one, and none serves a later one.",
    )
    .optional(),
};

type Settings = z.output<z.ZodObject<typeof nodeFields & typeof taskFields>>;

const usualTimeoutSeconds = { code: 60, prompt: 30 };

function taskOf(
  authored: Settings & { merge?: TaskNode["merge"] | undefined },
  source: TaskSource,
): Omit<TaskNode, "type"> {
  const { id, name, description, merge, timeout, effects, onError, retry, credentials, isolation } = authored;
  return defined({
    ...{ id, name, description, merge, effects, onError, credentials, isolation },
    executor: executorOf(authored, source),
    timeoutSeconds: timeout ?? usualTimeoutSeconds[source.kind],
    retry: retry && retryOf(retry),
  });
}

function executorOf({ model, limits, ai, network }: Settings, { shared, ...source }: TaskSource): Executor {
  const allow = allowed(shared, network);
  if (source.kind === "code") return defined({ ...source, allow });
  const samples = ai?.samples ?? shared.samples;
  return defined({ ...source, model, samples, maxCostUsd: limits?.max_cost_usd, allow: allow ?? [] });
}

/** Hosts of the workflow and of the node; none where neither says a word of them. */
function allowed({ allow }: SharedSettings, network: Settings["network"]): string[] | undefined {
  if (!allow && !network) return undefined;
  return [...new Set([...(allow ?? []), ...(network?.allow ?? [])])].sort();
}

export const AuthoredAction = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["action", "ActionNode"]).describe("One step of work."),
    ...taskFields,
    ...fanOutFields,
  })
  .describe("One step of work: its code reads and changes `context`.");
export type AuthoredAction = z.input<typeof AuthoredAction>;

export const actionKind: TaskKind<typeof AuthoredAction> = {
  type: "action",
  schema: AuthoredAction,
  edgesIn: "any",
  edgesOut: "one",
  holds: "code",
  normalise: (authored, source) => ({ ...taskOf(authored, source), type: "action" }),
};

export const AuthoredDecision = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["decision", "DecisionNode"]).describe("Chooses the edge to go on with."),
    ...taskFields,
  })
  .describe(
    'Chooses the edge to go on with: its code sets `context["branch_decision"]`, and every edge out of it has a condition.',
  );
export type AuthoredDecision = z.input<typeof AuthoredDecision>;

export const decisionKind: TaskKind<typeof AuthoredDecision> = {
  type: "decision",
  schema: AuthoredDecision,
  edgesIn: "any",
  edgesOut: "conditions",
  holds: "code",
  normalise: (authored, source) => ({ ...taskOf(authored, source), type: "decision" }),
};
