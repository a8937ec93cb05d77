import type { NovaClient } from "@nova/client";
import { RawJson } from "@nova/engine";
import { fillTemplate, templateNames, templates } from "@nova/templates";
import { defined } from "@nova/workflow/defined";
import { z } from "zod";
import {
  adds,
  changes,
  Draft,
  Finding,
  hasErrors,
  JsonText,
  linkToCall,
  listFindings,
  Next,
  tool,
  WorkflowId,
} from "../tool.ts";
import { filesOfDefinition } from "./definitions.ts";

const Operation = z.object({
  op: z.enum(["add_node", "change_node", "remove_node", "add_edge", "remove_edge", "change_settings"]),
  node: z
    .looseObject({ id: z.string() })
    .optional()
    .describe("add_node: fields as in workflow.json, code and prompt as text"),
  map: z.string().optional().describe("add_node: the map that gets the node; absent: the draft gets it"),
  id: z.string().optional().describe("of the node to change or remove"),
  changes: z
    .looseObject({})
    .optional()
    .describe("changed fields of a node, or of the workflow such as triggers, inputs; null removes one"),
  from: z.string().optional(),
  to: z.string().optional(),
  condition: z.union([z.string(), z.boolean(), z.number()]).optional(),
  max: z.number().optional().describe("add_edge: makes a loop, taken at most so often"),
});

export const edit = tool({
  name: "edit",
  description:
    "Change a draft: all operations or none. Without a draft, makes one: a copy of a workflow, or an empty one. Needs the role editor.",
  input: z.object({
    draft: Draft.optional(),
    workflow: WorkflowId.optional().describe("with no draft: the workflow to copy"),
    context: JsonText.optional().describe("with no draft: JSON text, the initial context of its runs"),
    revision: z.number().optional().describe("the revision that you read; refused if others changed it since"),
    operations: z.array(Operation).max(200),
  }),
  output: z.object({ draft: z.string(), revision: z.number(), findings: z.array(Finding), next: Next }),
  hints: changes,
  async call({ draft, workflow, context, revision, operations }, { nova }) {
    for (const operation of operations) demandSafeNumbers(operation);
    const made = defined({ workflow, context: context === undefined ? undefined : new RawJson(context) });
    const id = draft ?? (await nova.sessions.create(made)).session_id;
    const edited = await nova.sessions
      .edit(id, { operations: operations as never, ...defined({ revision }) })
      .catch(async (cause: unknown) => {
        // The changes failed. A new draft without these changes has no use, so the tool deletes the draft.
        if (draft === undefined) await nova.sessions.delete(id);
        throw cause;
      });
    const next = hasErrors(edited.findings)
      ? "correct the errors with edit"
      : `run {"draft":"${id}"} tries it, publish {"draft":"${id}"} makes it the next version`;
    return {
      result: { draft: id, revision: edited.revision, findings: listFindings(edited.findings), next },
      whole: linkToCall("validate", { draft: id }, "the findings"),
    };
  },
});

/**
 * Throws an error for a whole number that JSON parsers round, because the change would contain another number than its
 * author wrote.
 */
function demandSafeNumbers(value: unknown): void {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`the number ${value} has lost digits on its way - write it as a text, or compute it in code`);
  if (value !== null && typeof value === "object") for (const one of Object.values(value)) demandSafeNumbers(one);
}

export const publish = tool({
  name: "publish",
  description:
    "Make a draft or an example the next version of a workflow, which new runs use then. Needs the role editor and a key for all clients.",
  input: z.object({
    draft: Draft.optional(),
    example: z.enum(templateNames).optional(),
    workflow: WorkflowId.optional().describe("absent: the one of the draft, or the name of the example"),
  }),
  output: z.object({
    workflow: z.string(),
    version: z.number(),
    status: z.string(),
    findings: z.array(Finding),
    next: Next,
  }),
  hints: adds,
  async call({ draft, example, workflow }, { nova, maxWaitSeconds }) {
    if ((draft === undefined) === (example === undefined)) throw new RangeError("give either a draft or an example");
    const published =
      draft !== undefined
        ? await nova.sessions.publish(draft, defined({ workflow }))
        : await nova.workflows.publish(exampleSource(example ?? "hello", workflow ?? (example as string)));
    const { id, version, findings = [] } = published;
    const { status, reason } = await awaitVersion(nova, published, Date.now() + maxWaitSeconds * 1000);
    const problem = reason === undefined ? [] : [{ code: "PUBLISH", severity: "error", path: "$", message: reason }];
    const next =
      status === "ready" ? `run {"workflow":"${id}"}` : `read {"workflow":"${id}"} until its status is ready`;
    return {
      result: { workflow: id, version, status, findings: listFindings([...problem, ...findings]), next },
      whole: linkToCall("validate", { workflow: id }, "the findings"),
    };
  },
});

function exampleSource(example: (typeof templateNames)[number], id: string) {
  const { "workflow.json": text = "{}", ...files } = fillTemplate(templates[example], { id, name: id });
  return { definition: new RawJson(text), files: filesOfDefinition(files) };
}

interface Published {
  id: string;
  version: number;
  status: string;
  reason?: string | undefined;
}

/** Waits until runs can use a version. */
async function awaitVersion(nova: NovaClient, published: Published, deadline: number): Promise<Published> {
  for (let [found, pauseMs] = [published, 200]; ; pauseMs = Math.min(1_000, pauseMs * 1.5)) {
    if (found.status !== "publishing" || Date.now() + pauseMs >= deadline) return found;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    found = await nova.workflows.get(published.id, { version: published.version });
  }
}
