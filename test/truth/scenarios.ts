import type { WholeExecution } from "@nova/client";
import { ended, entered, type Place, until } from "./place.ts";
import { CommandFailed } from "./processes.ts";
import type { WorkflowName } from "./workflows.ts";

/** A sequence of actions with NOVA that must have the same result in both clouds. */
export interface Scenario {
  name: string;
  /** The status with which each execution of the scenario must end. */
  status: WholeExecution["status"];
  /** Runs the scenario and returns its executions after their end. Throws if the scenario cannot be run. */
  run(place: Place): Promise<WholeExecution[]>;
}

async function ran(place: Place, workflow: WorkflowName, context: object = {}): Promise<WholeExecution[]> {
  return [await ended(place, await started(place, workflow, { context }))];
}

async function started(place: Place, workflow: WorkflowName, asked: object): Promise<string> {
  return (await place.nova.executions.execute(workflow, asked)).execution_id;
}

async function answered(place: Place, choice: string): Promise<WholeExecution[]> {
  const id = await started(place, "truth-approval", { context: { n: 7 } });
  const task = await until(`the question of ${id}`, async () => {
    for await (const task of place.nova.tasks.list()) if (task.execution_id === id) return task;
    return undefined;
  });
  await place.nova.tasks.answer(task.task_id, { choice });
  return [await ended(place, id)];
}

function emitted(place: Place, source: string, type: string) {
  const body = { source, type, detail: { amount: 850 } as never, on_bus: true };
  return place.nova.ask(place.nova.api.POST("/events", { body: body as never }));
}

/** Waits until a workflow has `count` executions and returns them. */
async function begunBy(place: Place, workflow: WorkflowName, count: number): Promise<WholeExecution[]> {
  const begun = await until(`execution ${count} of ${workflow}`, async () => {
    const found = await Array.fromAsync(place.nova.executions.list({ workflow }));
    return found.length >= count && found;
  });
  return Promise.all(begun.map(({ execution_id }) => ended(place, execution_id)));
}

/** Runs a command and returns its output. Throws `CommandFailed`. */
async function said(place: Place, ...args: string[]): Promise<string> {
  const result = await place.cli(...args);
  if (result.code !== 0) throw new CommandFailed(["nova", ...args], result);
  return result.stdout;
}

const client = "truth-client";

export const scenarios: Scenario[] = [
  { name: "parallel branches", status: "completed", run: (place) => ran(place, "truth-parallel") },
  { name: "map", status: "completed", run: (place) => ran(place, "truth-map") },
  { name: "distributed map", status: "completed", run: (place) => ran(place, "truth-wide") },
  { name: "loop that is done", status: "completed", run: (place) => ran(place, "truth-loop", { n: 2 }) },
  { name: "loop that reaches its limit", status: "completed", run: (place) => ran(place, "truth-loop", { n: 9 }) },
  { name: "wait", status: "completed", run: (place) => ran(place, "truth-wait") },
  { name: "approval that expires", status: "completed", run: (place) => ran(place, "truth-expire") },
  { name: "failure", status: "failed", run: (place) => ran(place, "truth-fail") },
  { name: "children", status: "completed", run: (place) => ran(place, "truth-child") },
  { name: "child that fails", status: "completed", run: (place) => ran(place, "truth-child-fails") },
  { name: "approval: yes", status: "completed", run: (place) => answered(place, "approved") },
  { name: "approval: no", status: "completed", run: (place) => answered(place, "rejected") },
  {
    name: "event that a run waits for",
    status: "completed",
    async run(place) {
      const id = await started(place, "truth-event", {});
      await entered(place, "truth-event", id, "paid");
      await until(`the wait of ${id}`, async () => (await place.nova.executions.get(id)).status === "waiting");
      await emitted(place, "bank", "Paid");
      return [await ended(place, id)];
    },
  },
  {
    name: "event and webhook triggers",
    status: "completed",
    async run(place) {
      await emitted(place, "shop", "Paid");
      await begunBy(place, "truth-triggers", 1);
      const params = { path: { id: "truth" } };
      await place.nova.ask(place.nova.api.POST("/hooks/{id}", { params, body: { paid: true } as never }));
      return begunBy(place, "truth-triggers", 2);
    },
  },
  {
    name: "schedule",
    status: "completed",
    async run(place) {
      // If this NOVA cannot start the runs of schedules, the scenario starts a run with the context that the schedule
      // would give.
      const asScheduled = { context: { report: "daily", schedule: {} } };
      if (place.fireSchedules) await place.fireSchedules("truth-schedule");
      else await started(place, "truth-schedule", asScheduled);
      return begunBy(place, "truth-schedule", 1);
    },
  },
  {
    name: "pinned prompt",
    status: "completed",
    run: (place) => ran(place, "truth-pinned", { lines: [19.5, 3] }),
  },
  {
    name: "bytes, a large value, credentials",
    status: "completed",
    async run(place) {
      await place.nova.clients.create({ slug: client, name: "Truth" } as never);
      const values = { user: "me", password: "correct horse", smtp_host: "mail.example.com" };
      await place.nova.credentials.set({ client }, "email", { kind: "email", values });
      const bytes = new Uint8Array(300_000).fill(7);
      const paper = await place.nova.upload(bytes, { bytes: bytes.length, client_slug: client });
      const id = await started(place, "truth-values", { context: { paper }, client_slug: client });
      return [await ended(place, id)];
    },
  },
  {
    name: "cancel",
    status: "cancelled",
    async run(place) {
      const id = await started(place, "truth-cancel", {});
      await entered(place, "truth-cancel", id, "long");
      await said(place, "cancel", id);
      return [await ended(place, id)];
    },
  },
  {
    name: "delete a client",
    status: "completed",
    async run(place) {
      await said(place, "clients", "delete", client);
      // NOVA keeps the record of the client until no function can still work for the client, which may take long. So
      // the scenario waits only for the erasure of the runs.
      await until(`the erasure of what ${client} had said`, async () => {
        const runs = await Array.fromAsync(place.nova.executions.list({ workflow: "truth-values" }));
        const found = await Promise.all(runs.map(({ execution_id }) => place.nova.executions.verify(execution_id)));
        return found.length > 0 && found.every(({ state, erased }) => state === "anchored" && erased.length > 0);
      });
      return [];
    },
  },
];
