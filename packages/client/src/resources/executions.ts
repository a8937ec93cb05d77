import type { Connection } from "../connection.ts";
import type { paths } from "../schema.d.ts";
import type { RestartedExecution, RestartForecast, StartedExecution, WholeExecution } from "../schemas.ts";

type ExecuteBody = NonNullable<paths["/workflows/{id}/execute"]["post"]["requestBody"]>["content"]["application/json"];
type RestartBody = NonNullable<paths["/executions/{id}/restart"]["post"]["requestBody"]>["content"]["application/json"];
type ListQuery = NonNullable<paths["/executions"]["get"]["parameters"]["query"]>;

export type ExecuteOptions = Omit<ExecuteBody, "context"> & {
  /** What the run begins with. */
  context?: object;
  /** Seconds (25 at most) to wait for the end before answering that it runs. */
  wait?: number;
};

export type RestartOptions = Omit<RestartBody, "context_patch"> & {
  /** Other values for keys of what the run began with. */
  context_patch?: object;
  /** As of `ExecuteOptions`. */
  wait?: number;
};

export interface FollowOptions {
  /** Hears every status that the execution is seen in. */
  onStatus?: (execution: WholeExecution) => void;
  signal?: AbortSignal;
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;
const goingOn = new Set(["queued", "running", "waiting"]);

export function executionsAt({ api, ask, list, sleep }: Connection) {
  /** Starts a run: it has been accepted, or is over already where `wait` was long enough. */
  const execute = (workflow: string, { wait, ...body }: ExecuteOptions = {}) => {
    const params = { path: { id: workflow }, query: wait === undefined ? {} : { wait } };
    return ask<StartedExecution | WholeExecution>(
      api.POST("/workflows/{id}/execute", { params, body: body as ExecuteBody }),
    );
  };
  const get = (id: string) => ask(api.GET("/executions/{id}", { params: { path: { id } } }));

  /** The execution once it is over; asked for more and more seldom. One that waits for people may take days. */
  async function untilEnded(id: string, { onStatus, signal }: FollowOptions = {}): Promise<WholeExecution> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
      signal?.throwIfAborted();
      const execution = await get(id);
      onStatus?.(execution);
      if (!goingOn.has(execution.status)) return execution;
      await sleep(pauseMs);
    }
  }

  return {
    ...{ execute, get, untilEnded },

    /** Starts a run and waits for its end. */
    async run(workflow: string, options: ExecuteOptions & FollowOptions = {}): Promise<WholeExecution> {
      const { onStatus, signal, ...asked } = options;
      const begun = await execute(workflow, { wait: 5, ...asked });
      if ("path" in begun) return begun;
      return untilEnded(begun.execution_id, { ...(onStatus && { onStatus }), ...(signal && { signal }) });
    },

    /** Runs it again from what failed, or from a place on, as a new execution; with `dry_run` it says what that would do. */
    restart<Options extends RestartOptions>(id: string, { wait, ...body }: Options = {} as Options) {
      const params = { path: { id }, query: wait === undefined ? {} : { wait } };
      return ask<Options extends { dry_run: true } ? RestartForecast : RestartedExecution | WholeExecution>(
        api.POST("/executions/{id}/restart", { params, body: body as RestartBody }) as never,
      );
    },

    /** Newest first. */
    list: (query: Omit<ListQuery, "cursor"> = {}) => list("/executions", { query }),

    /** Erases what it knew, and what everything restarted from it did; digests stay, and they verify. */
    erase: (id: string) => ask(api.POST("/executions/{id}/erase", { params: { path: { id } } })),

    /** Stops a run; of one that is over it says how it ended. */
    cancel: (id: string) => ask(api.POST("/executions/{id}/cancel", { params: { path: { id } } })),

    /** The chain of work, link by link; `full` adds code, contexts and logs. */
    chain(id: string, { full = false, limit }: { full?: boolean; limit?: number } = {}) {
      const query = { ...(full && { full: "true" as const }), ...(limit !== undefined && { limit }) };
      return list("/executions/{id}/chain", { path: { id }, query });
    },

    /** One link with code, contexts and logs; `scope` names the branch that it is in. */
    link(id: string, seq: number, { scope = "" } = {}) {
      const query = { full: "true" as const, ...(scope !== "" && { scope }) };
      return ask(api.GET("/executions/{id}/chain/{seq}", { params: { path: { id, seq }, query } }));
    },

    /** Two executions node by node, in the order of the first. */
    diff: (a: string, b: string) => list("/executions/{a}/diff/{b}", { path: { a, b } }),

    verify: (id: string) => ask(api.GET("/executions/{id}/verify", { params: { path: { id } } })),
  };
}
