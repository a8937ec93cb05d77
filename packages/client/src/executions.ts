import type { Body, Connection } from "./connection.ts";
import type { paths } from "./schema.d.ts";
import type { RestartedExecution, RestartForecast, StartedExecution, WholeExecution } from "./schemas.ts";

type ExecuteBody = Body<"/workflows/{id}/execute", "post">;
type RestartBody = Body<"/executions/{id}/restart", "post">;
type ListQuery = NonNullable<paths["/executions"]["get"]["parameters"]["query"]>;

export type ExecuteOptions = Omit<ExecuteBody, "context"> & {
  context?: object;
  /** Seconds (at most 25) that the server waits for the end of the run before it answers. */
  wait?: number;
};

export type RestartOptions = Omit<RestartBody, "context_patch"> & {
  context_patch?: object;
  /** Seconds that the server waits, as in `ExecuteOptions`. */
  wait?: number;
};

export interface FollowOptions {
  /** Called with the execution after every request. */
  onStatus?: (execution: WholeExecution) => void;
  signal?: AbortSignal;
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;
const openStatuses = new Set(["queued", "running", "waiting"]);

export function executionsAt({ api, ask, list, sleep }: Connection) {
  /** Starts a run. If the run ends within `wait` seconds, the answer contains the finished execution. */
  const execute = (workflow: string, { wait, ...body }: ExecuteOptions = {}) => {
    const params = { path: { id: workflow }, query: wait === undefined ? {} : { wait } };
    return ask<StartedExecution | WholeExecution>(
      api.POST("/workflows/{id}/execute", { params, body: body as ExecuteBody }),
    );
  };
  const get = (id: string) => ask(api.GET("/executions/{id}", { params: { path: { id } } }));

  /** Polls an execution until it ends. The pauses grow, because a run that waits for people may take days. */
  async function untilEnded(id: string, { onStatus, signal }: FollowOptions = {}): Promise<WholeExecution> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
      signal?.throwIfAborted();
      const execution = await get(id);
      onStatus?.(execution);
      if (!openStatuses.has(execution.status)) return execution;
      await sleep(pauseMs);
    }
  }

  return {
    get,
    untilEnded,
    execute,

    async run(workflow: string, options: ExecuteOptions & FollowOptions = {}): Promise<WholeExecution> {
      const { onStatus, signal, ...asked } = options;
      const started = await execute(workflow, { wait: 5, ...asked });
      if ("path" in started) return started;
      return untilEnded(started.execution_id, { ...(onStatus && { onStatus }), ...(signal && { signal }) });
    },

    /**
     * Starts a new execution that continues an earlier one from a place, or from its failed nodes. `dry_run` only
     * describes the restart.
     */
    restart<Options extends RestartOptions>(id: string, { wait, ...body }: Options = {} as Options) {
      const params = { path: { id }, query: wait === undefined ? {} : { wait } };
      return ask<Options extends { dry_run: true } ? RestartForecast : RestartedExecution | WholeExecution>(
        api.POST("/executions/{id}/restart", { params, body: body as RestartBody }) as never,
      );
    },

    list: (query: Omit<ListQuery, "cursor"> = {}) => list("/executions", { query }),

    /** Erases the data of an execution and of its restarts, but not the digests that verify them. */
    erase: (id: string) => ask(api.POST("/executions/{id}/erase", { params: { path: { id } } })),

    /** Stops a run. If the run is over, the answer has its final status. */
    cancel: (id: string) => ask(api.POST("/executions/{id}/cancel", { params: { path: { id } } })),

    /** Lists the entries of the execution's chain of work. With `full`, they have code, contexts and logs. */
    chain(id: string, { full = false, limit }: { full?: boolean; limit?: number } = {}) {
      const query = { ...(full && { full: "true" as const }), ...(limit !== undefined && { limit }) };
      return list("/executions/{id}/chain", { path: { id }, query });
    },

    /** Reads one entry with code, contexts and logs. `scope` names its branch. */
    link(id: string, seq: number, { scope = "" } = {}) {
      const query = { full: "true" as const, ...(scope !== "" && { scope }) };
      return ask(api.GET("/executions/{id}/chain/{seq}", { params: { path: { id, seq }, query } }));
    },

    /** Compares two executions node by node, in the order of the nodes in the execution `a`. */
    diff: (a: string, b: string) => list("/executions/{a}/diff/{b}", { path: { a, b } }),

    /** Reads the proof of a run that has ended. `openapi-fetch` follows the redirect to a large proof. */
    proof: (id: string, query: { contents?: "none" | "digests" | "all" } = {}) =>
      ask(api.GET("/executions/{id}/proof", { params: { path: { id }, query } })),

    verify: (id: string) => ask(api.GET("/executions/{id}/verify", { params: { path: { id } } })),
  };
}
