import type { Execution } from "@nova/engine";
import { execute as executeWorkflow, hasEnded, readExecution, type ServicePorts, untilEnded } from "@nova/service";
import { z } from "zod";
import { type Answer, route } from "../http/route.ts";
import { Started, WholeExecution, wholeExecution } from "../schemas/execution.ts";
import { ExactObject, Slug, VersionNumber, WorkflowId, wholeNumber } from "../schemas/values.ts";

/** API Gateway's HTTP API waits 30 seconds for a Lambda. */
const longestWaitSeconds = 25;

export const execute = route({
  method: "POST",
  path: "/workflows/{id}/execute",
  summary: "Start a run; with `wait` answer its result if it ends in time",
  role: "runner",
  params: z.object({ id: WorkflowId }),
  query: z.strictObject({
    wait: wholeNumber(0, longestWaitSeconds).optional().meta({ description: "seconds" }),
  }),
  body: z.strictObject({
    client_slug: Slug.optional(),
    context: ExactObject.optional(),
    version: VersionNumber.optional().meta({ description: "absent: pinned for the client, or active" }),
    fresh: z
      .array(z.string().min(1).max(64))
      .max(100)
      .optional()
      .meta({ description: "ids of prompt nodes whose code is written anew, whatever is kept or locked" }),
    frozen: z.boolean().optional().meta({ description: "no model is asked: prompt nodes run locked code, or fail" }),
  }),
  bodyMayBeAbsent: true,
  exact: ["context"],
  answers: {
    200: { description: "it ended in time", schema: WholeExecution },
    202: { description: "it runs, or waits for its turn (`queued`)", schema: Started },
  },
  async handle(ports, { by, params, query: { wait = 0 }, body, once }) {
    const { id, status } = await once(async (ulid) => {
      const { context, frozen = false, fresh = [] } = body;
      const given = { context: context?.text ?? "{}", namesUploads: true };
      const request = { ulid, workflow: params.id, ...given, frozen, fresh };
      const client = body.client_slug !== undefined && { client: body.client_slug };
      const version = body.version !== undefined && { version: body.version };
      return started(await executeWorkflow(ports, by, { ...request, ...client, ...version }));
    });
    return resultOf(ports, { id, status }, wait);
  },
});

type StartedRun = Pick<Execution, "id" | "status">;

function started({ id, status }: Execution): StartedRun {
  return { id, status };
}

/** The run, once it has ended; else where it will be found. */
export async function resultOf(ports: ServicePorts, { id, status }: StartedRun, waitSeconds: number): Promise<Answer> {
  const record = waitSeconds > 0 ? await untilEnded(ports, id, waitSeconds * 1000) : undefined;
  if (record && hasEnded(record)) return { status: 200, body: wholeExecution(await readExecution(ports, id)) };
  const headers = { location: `/executions/${id}` };
  return { status: 202, headers, body: { execution_id: id, status: record?.status ?? status } };
}
