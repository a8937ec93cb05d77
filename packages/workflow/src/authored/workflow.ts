import { z } from "zod";
import { aiFields, workflowModel } from "./ai.ts";
import {
  type AuthoredEdge,
  aYearSeconds,
  credentialNames,
  filledText,
  jsonSchema,
  labels,
  numberBetween,
  seconds,
  text,
} from "./fields.ts";
import type { AuthoredNode } from "./kinds.ts";
import { AuthoredOnFailure } from "./on-failure.ts";
import type { AuthoredTrigger } from "./triggers.ts";

/**
 * Maximum number of sandboxes that a workflow may keep warm per client. An E2B plan allows 20 or 100 sandboxes in
 * total.
 */
const maxWarm = 20;

/**
 * The fields of a workflow without its graph. In a definition with `graph_definition`, they are beside
 * `graph_definition`.
 */
export const workflowFields = {
  $schema: text("Address of the JSON schema of this file, for editors.").optional(),
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
    network: "the code of every node can connect to, in addition to the node's own hosts and those of its credentials",
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
    .describe("The triggers that start runs, as long as the version is the active one; see Triggers.")
    .optional(),
  on_failure: AuthoredOnFailure.describe(
    "Notifications of failed runs: `mail` lists addresses, `webhook` is an address that gets a POST, or `{url, secret}`. The settings of a client apply as well.",
  ).optional(),
  idle_seconds: seconds(
    { min: 0, max: 3_600, integer: true },
    "How long idle sandboxes wait for the next run of the same client, in seconds: 0 to 3600, default 60. `0`: they end with their run. They are paid for while they wait.",
  ).optional(),
  warm: numberBetween("whole", 0, maxWarm)
    .describe(
      `The number of idle sandboxes of a client that stay after \`idle_seconds\`, as long as the version is the active one: 0 to ${maxWarm}, default 0. Each is paid for all day: about 13 cents an hour with 2 vCPU and 2 GiB.`,
    )
    .optional(),
  requirements: z
    .array(filledText("One pip requirement, such as `pandas==2.2`."), { error: "must be a list of pip requirements" })
    .describe(
      "Packages that the code imports: `name`, with extras, versions and a marker (PEP 508), or `name @ https://...`; no options of pip. A folder on this machine may also name the absolute path of a wheel, which the API refuses.",
    )
    .optional(),
};

/** `nodes` and `edges` are parsed one by one, so that one wrong node hides no other finding. */
export const WorkflowFields = z.strictObject({
  ...workflowFields,
  nodes: z.array(z.unknown(), { error: "must be a list of nodes" }),
  edges: z.array(z.unknown(), { error: "must be a list of edges" }),
});
export type WorkflowFields = z.output<typeof WorkflowFields>;

export interface AuthoredWorkflow extends Omit<z.input<z.ZodObject<typeof workflowFields>>, "triggers"> {
  triggers?: AuthoredTrigger[];
  nodes: AuthoredNode[];
  edges: AuthoredEdge[];
}
