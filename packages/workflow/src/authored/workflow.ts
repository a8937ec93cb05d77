import { z } from "zod";
import { aiFields, workflowModel } from "./ai.ts";
import type { AuthoredEdge } from "./edge.ts";
import { aYearSeconds, credentialNames, filledText, jsonSchema, labels, seconds, text, within } from "./fields.ts";
import type { AuthoredNode } from "./kinds.ts";
import { AuthoredOnFailure } from "./on-failure.ts";
import type { AuthoredTrigger } from "./triggers/kinds.ts";

/** An E2B plan has 20 sandboxes at once, or 100, for everything. */
const maxWarm = 20;

/** Everything but the graph: the part that the older form leaves beside `graph_definition`. */
export const workflowFields = {
  $schema: text("Where editors find the JSON schema of this file.").optional(),
  id: z
    .union([z.string(), z.number()], { error: "must be a text" })
    .describe("Its slug is the id of the workflow. Absent: the slug of `name`, else of the folder.")
    .optional(),
  name: filledText("A title for people.").optional(),
  description: text("What the workflow is for; becomes the comment of the state machine.").optional(),
  timeout: seconds(
    { min: 1, max: aYearSeconds, integer: true },
    "Limit of a whole run, in seconds, at most a year.",
  ).optional(),
  model: workflowModel,
  models: z
    .literal(false, { error: "must be false, or be left out" })
    .describe("`false`: no node may ask a model; text nodes, and prompt nodes without locked code, are refused.")
    .optional(),
  ...aiFields({
    limits: "one run of the whole workflow",
    ai: "Absent: it does. A node may say otherwise.",
    network: "the code of every node can connect to, besides its own and those of its credentials",
  }),
  approval: z
    .literal("required", { error: 'must be "required", or be left out' })
    .describe("`required`: prompt nodes run only code that a person has approved.")
    .optional(),
  scope: z
    .literal("client", { error: 'must be "client", or be left out' })
    .describe("`client`: the code that models write is kept for each client apart. Absent: one for all.")
    .optional(),
  credentials: credentialNames("nodes get which name none themselves. Absent: all there are.").optional(),
  inputs: jsonSchema(
    "JSON schema of the context that a run starts with, checked before it starts. `secret: true` in a property keeps its value out of logs, prompts and records.",
  ).optional(),
  labels: labels.optional(),
  triggers: z
    .array(z.unknown(), { error: "must be a list of triggers" })
    .describe("What starts runs from outside, while the version is the active one; see Triggers.")
    .optional(),
  on_failure: AuthoredOnFailure.describe(
    "Who hears of runs that fail: `mail` lists addresses, `webhook` is an address that gets a POST, or `{url, secret}`. What a client says is done besides.",
  ).optional(),
  idle_seconds: seconds(
    { min: 0, max: 3_600, integer: true },
    "How long the sandboxes that a run has left wait for the next run of the same client, in seconds: 0 to 3600, default 60. `0`: they end with their run. They are paid for while they wait.",
  ).optional(),
  warm: within("whole", 0, maxWarm, `must be a whole number from 0 to ${maxWarm}`)
    .describe(
      `So many sandboxes that runs of a client have left stay when \`idle_seconds\` are over, as long as the version is the active one: 0 to ${maxWarm}, default 0. Each is paid for all day: about 13 cents an hour with 2 vCPU and 2 GiB.`,
    )
    .optional(),
  requirements: z
    .array(filledText("One pip requirement, such as `pandas==2.2`."), { error: "must be a list of pip requirements" })
    .describe(
      "Packages that the code imports: `name`, with extras, versions and a marker (PEP 508), or `name @ https://...`; no options of pip. A folder on this machine may also name the absolute path of a wheel, which the API refuses.",
    )
    .optional(),
};

/** `nodes` and `edges` as the parser first sees them: each is parsed on its own, so that one wrong node hides no other. */
export const WorkflowFields = z.strictObject({
  ...workflowFields,
  nodes: z.array(z.unknown(), { error: "must be a list of nodes" }),
  edges: z.array(z.unknown(), { error: "must be a list of edges" }),
});
export type WorkflowFields = z.output<typeof WorkflowFields>;

/** What people write: a graph whose nodes run Python. */
export interface AuthoredWorkflow extends Omit<z.input<z.ZodObject<typeof workflowFields>>, "triggers"> {
  triggers?: AuthoredTrigger[];
  nodes: AuthoredNode[];
  edges: AuthoredEdge[];
}
