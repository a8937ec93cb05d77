import {
  activateVersion,
  deleteWorkflow,
  pauseWorkflow,
  resumeWorkflow,
  showWorkflow,
  sourceOf,
  validateWorkflow,
} from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { VersionNumber, WorkflowId } from "../schemas/values.ts";
import { Definition, Validated, WorkflowItem, workflowItem } from "../schemas/workflow.ts";

const params = z.object({ id: WorkflowId });
const Activated = z.object({ id: WorkflowId, active_version: VersionNumber }).meta({ id: "ActivatedWorkflow" });

export const validate = route({
  method: "POST",
  path: "/workflows/validate",
  summary: "Findings about a definition, without a side effect",
  role: "viewer",
  body: Definition,
  answers: { 200: { description: "all findings; `valid` where none is an error", schema: Validated } },
  async handle(ports, { by, text }) {
    const { workflow, findings } = await validateWorkflow(ports, by, sourceOf(text));
    return { status: 200, body: { valid: workflow !== undefined, findings } };
  },
});

export const activate = route({
  method: "POST",
  path: "/workflows/{id}/activate",
  summary: "Make a version what new runs use, such as an earlier one",
  role: "editor",
  params,
  body: z.strictObject({ version: VersionNumber }),
  answers: { 200: { description: "activated", schema: Activated } },
  async handle(ports, { by, params: { id }, body: { version }, once }) {
    await once(() => activateVersion(ports, by, id, version));
    return { status: 200, body: { id, active_version: version } };
  },
});

export const pause = route({
  method: "POST",
  path: "/workflows/{id}/pause",
  summary: "Queue new runs of a workflow and let times of its schedules pass; runs that have begun go on",
  role: "editor",
  params,
  answers: { 200: { description: "paused", schema: WorkflowItem } },
  async handle(ports, { by, params: { id } }) {
    await pauseWorkflow(ports, by, id);
    return { status: 200, body: workflowItem(await showWorkflow(ports, id)) };
  },
});

export const resume = route({
  method: "POST",
  path: "/workflows/{id}/resume",
  summary: "End the pause of a workflow; its queued runs begin",
  role: "editor",
  params,
  answers: { 200: { description: "not paused", schema: WorkflowItem } },
  async handle(ports, { by, params: { id } }) {
    await resumeWorkflow(ports, by, id);
    return { status: 200, body: workflowItem(await showWorkflow(ports, id)) };
  },
});

export const remove = route({
  method: "DELETE",
  path: "/workflows/{id}",
  summary: "Delete a workflow; its executions stay readable",
  role: "editor",
  params,
  answers: { 204: { description: "deleted" }, 409: { description: "runs are open" } },
  async handle(ports, { by, params: { id } }) {
    await deleteWorkflow(ports, by, id);
    return { status: 204 };
  },
});
