import { setWorkflowQuotas, workflowQuotas } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import * as schemas from "../schemas/quotas.ts";
import { WorkflowId } from "../schemas/values.ts";

const params = z.object({ id: WorkflowId });
const answers = { 200: { description: "the quotas", schema: schemas.WorkflowQuotasBody } };

export const get = route({
  method: "GET",
  path: "/workflows/{id}/quotas",
  summary: "How many runs of a workflow there may be at once",
  role: "viewer",
  params,
  answers,
  handle: async (ports, { params: { id } }) => ({
    status: 200,
    body: schemas.workflowQuotasItem(await workflowQuotas(ports, id)),
  }),
});

export const put = route({
  method: "PUT",
  path: "/workflows/{id}/quotas",
  summary: "Replace the quotas of a workflow, of all its versions; needs a key for all clients",
  role: "editor",
  params,
  body: schemas.WorkflowQuotasBody,
  answers,
  async handle(ports, { by, params: { id }, body }) {
    const quotas = schemas.workflowQuotas(body);
    await setWorkflowQuotas(ports, by, id, quotas);
    return { status: 200, body: schemas.workflowQuotasItem(quotas) };
  },
});
