import { z } from "zod";
import { defined } from "../defined.ts";
import { at, type Finding, finding } from "../findings/finding.ts";
import type { Loose, WrittenJson } from "../json/exact.ts";
import { longestNodeSeconds, longestPromptSeconds } from "../long-node.ts";
import type { Executor, StepNode } from "../workflow.ts";
import { agentFields, agentOf, approvedToolFields, checkAgent, checkNoAgent } from "./agent.ts";
import { aiFields, nodeModel } from "./ai.ts";
import { checkInputSchema, checkOutOfPlace, checkPorts, type FieldPlace } from "./field-check.ts";
import { credentialNames, fanOutFields, filledText, flag, InputKeys, NodeId, nodeFields, seconds } from "./fields.ts";
import { executorKind, type SharedSettings, type TaskKind, type TaskSource } from "./kind.ts";
import { AuthoredRetry, checkRetry, retryOf } from "./retry.ts";
import { checkNoText, checkText, isConfig, textExecutor, textFields } from "./text.ts";

export const taskFields = {
  executor: z
    .enum(["code", "prompt", "text", "agent", "e2b", "cached"], {
      error: 'must be "code", "prompt", "text" or "agent"',
    })
    .describe(
      "The kind of work: `code` is Python written by hand, `prompt` Python that a model writes, `text` an answer that a model writes each time, `agent` a model that calls tools until it has an answer. `e2b` and `cached` are other names of the first two.",
    )
    .default("code"),
  code: filledText("Python source. Exactly one of `code` and `codeFile`.").optional(),
  codeFile: filledText("Python file in the workflow's folder, such as `extract.py`.").optional(),
  prompt: filledText(
    "The question to a model; for the executors `prompt` and `text`. In a text node `{Node}` stands for the output of another node.",
  ).optional(),
  promptFile: filledText("File with the prompt, in the workflow's folder, such as `extract.md`.").optional(),
  ...textFields,
  ...agentFields,
  ...approvedToolFields,
  input_keys: InputKeys.optional(),
  model: nodeModel(
    "For a prompt node: the id of its model, or an object with ids for some of `input_analyzer`, `data_analyzer`, `code_generator`, `output_validator`; roles that it leaves out have the workflow's. For a text node: an id, or an object as `llm_config` is.",
  ).optional(),
  ...aiFields({
    limits: "one run of the node",
    ai: "Absent: as the workflow says.",
    network: "the node's code can connect to, in addition to the workflow's hosts and those of its credentials",
  }),
  timeout: seconds(
    { min: 1, max: longestNodeSeconds },
    "Limit of one run in the sandbox, in seconds: 1 to 86400, default 60; of a prompt node 1 to 600, default 30; of a text node the time for its answers, 1 to 600, default 120. Above 840 no Lambda waits for the code; see Long nodes.",
  ).optional(),
  effects: flag(
    "Whether the code changes something outside (sends a mail, writes a row). It decides whether NOVA may repeat it. `true`: started code is never run again. " +
      "`false`: it changes nothing, so a lost machine repeats it, and its results may be used again. Absent: lost machines repeat nothing, a model's attempts may. Use `retry` for repetitions of your own.",
  ).optional(),
  onError: NodeId.describe("Node that continues after a failure of this one, instead of failing the run.").optional(),
  retry: AuthoredRetry.optional(),
  credentials: credentialNames("the node's code gets. Absent: as the workflow says.").optional(),
  fallback: NodeId.describe(
    "For code that calls the tools of an agent: the agent, which continues if the code fails. The agent has no edges then.",
  ).optional(),
  isolation: z
    .enum(["fresh", "execution"], { error: 'must be "fresh" or "execution", or be left out' })
    .describe(
      "`fresh` gives the node a sandbox of its own, which no later node uses. `execution`, at any node, keeps the sandboxes of a run for that run: it reuses none of an earlier run, and leaves none for a later run.",
    )
    .optional(),
};

type Settings = z.output<z.ZodObject<typeof nodeFields & typeof taskFields>>;

const usualTimeoutSeconds = { code: 60, prompt: 30, text: 120 };

function taskOf(
  authored: Settings & { merge?: StepNode["merge"] | undefined },
  source: TaskSource,
  inputSchema?: WrittenJson,
): Omit<StepNode, "type"> {
  const { id, name, description, merge, timeout, effects, onError, retry, credentials, isolation } = authored;
  return defined({
    id,
    name,
    description,
    merge,
    effects,
    onError,
    credentials,
    isolation,
    inputSchema,
    inputKeys: authored.input_keys,
    ...(source.kind === "text" && asksOnly),
    executor: executorOf(authored, source),
    timeoutSeconds: timeout ?? usualTimeoutSeconds[source.kind],
    retry: retry && retryOf(retry),
  });
}

/** Settings of a text node: it only asks a model, so it has no effects and needs no credentials. */
const asksOnly = { effects: false, credentials: [] as string[] };

function executorOf(settings: Settings, { shared, ...source }: TaskSource): Executor {
  const { model, limits, ai, network } = settings;
  if (source.kind === "text") return textExecutor(settings, { ...source }, limits?.max_cost_usd);
  const allow = mergeAllowed(shared, network);
  if (source.kind === "code") return defined({ ...source, allow });
  const samples = ai?.samples ?? shared.samples;
  const choice = model && !isConfig(model) ? model : undefined;
  const { prompt, file } = source;
  const maxCostUsd = limits?.max_cost_usd;
  return defined({ kind: "prompt" as const, prompt, file, model: choice, samples, maxCostUsd, allow: allow ?? [] });
}

/** Returns the hosts that the workflow and the node allow together; undefined if both leave `network` out. */
function mergeAllowed({ allow }: SharedSettings, network: Settings["network"]): string[] | undefined {
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
  .describe("One step of work: its code reads and changes `context`, or a model writes a text.");

export const actionKind: TaskKind<typeof AuthoredAction> = {
  type: "action",
  schema: AuthoredAction,
  edgesOut: "one",
  holds: "code",
  check: checkTask,
  normalise: (authored, source, exactly) => {
    const { executor, ...node } = taskOf(authored, source, authored.input_schema && exactly("input_schema"));
    if (authored.executor === "agent" && executor.kind === "text") return agentOf({ ...node, executor }, authored);
    return { ...node, executor, type: "action" };
  },
};

export const AuthoredDecision = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["decision", "DecisionNode"]).describe("Chooses the next edge."),
    ...taskFields,
  })
  .describe(
    'Chooses the next edge: its code sets `context["branch_decision"]`, or a model names an edge, and every edge out of it has a condition.',
  );

export const decisionKind: TaskKind<typeof AuthoredDecision> = {
  type: "decision",
  schema: AuthoredDecision,
  edgesOut: "conditions",
  holds: "code",
  check: checkTask,
  normalise: (authored, source) => ({ ...taskOf(authored, source), type: "decision" }),
};

/** Checks an action or a decision. Its executor decides which settings it may have. */
function* checkTask(node: Loose, place: FieldPlace): Iterable<Finding> {
  const { name, path } = place;
  const kind = executorKind(node.executor) ?? "code";
  yield* checkRetry(node, place);
  if (kind === "code") {
    const wayOut = 'is for prompt nodes, and would do nothing here - remove it, or add "executor": "prompt"';
    yield* checkOutOfPlace("NOVA421", ["limits", "ai"], wayOut, [node, place]);
  }
  if (kind === "text") yield* checkText(node, place);
  if (kind !== "code" && typeof node.timeout === "number" && node.timeout > longestPromptSeconds) {
    const message = `${name}: timeout of a ${kind} node must be seconds from 1 to ${longestPromptSeconds}, not ${node.timeout}`;
    yield finding("NOVA406", at(path, "timeout"), message);
  }
  if (kind !== "text") yield* checkNoText(node, place);
  yield* node.executor === "agent" ? checkAgent(node, place) : checkNoAgent(node, place);
  yield* checkInputSchema(node, place);
  yield* checkPorts(node.network, name, (index) => at(path, "network", "allow", index));
}
