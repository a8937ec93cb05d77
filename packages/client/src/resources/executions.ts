import type { Connection } from "../connection.ts";
import { itemsOf, queryAt } from "../pages.ts";
import type { paths } from "../schema.d.ts";
import type { ChainEntry, Execution, Schemas, StartedExecution, WholeExecution } from "../schemas.ts";

type ExecuteBody = NonNullable<paths["/workflows/{id}/execute"]["post"]["requestBody"]>["content"]["application/json"];
type ListQuery = NonNullable<paths["/executions"]["get"]["parameters"]["query"]>;

export type ExecuteOptions = Omit<ExecuteBody, "context"> & {
  /** What the run begins with. */
  context?: object;
  /** Seconds (25 at most) to wait for the end before answering that it runs. */
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

export class Executions {
  readonly #at: Connection;

  constructor(at: Connection) {
    this.#at = at;
  }

  /** Starts a run: it has been accepted, or is over already where `wait` was long enough. */
  execute(workflow: string, { wait, ...body }: ExecuteOptions = {}): Promise<StartedExecution | WholeExecution> {
    const params = { path: { id: workflow }, query: wait === undefined ? {} : { wait } };
    return this.#at.ask<StartedExecution | WholeExecution>(
      this.#at.api.POST("/workflows/{id}/execute", { params, body: body as ExecuteBody }),
    );
  }

  /** Starts a run and waits for its end. */
  async run(workflow: string, options: ExecuteOptions & FollowOptions = {}): Promise<WholeExecution> {
    const { onStatus, signal, ...asked } = options;
    const begun = await this.execute(workflow, { wait: 5, ...asked });
    if ("path" in begun) return begun;
    return this.untilEnded(begun.execution_id, { ...(onStatus && { onStatus }), ...(signal && { signal }) });
  }

  /** Newest first. */
  list(query: Omit<ListQuery, "cursor"> = {}): AsyncGenerator<Execution> {
    return itemsOf((cursor) => {
      return this.#at.ask(this.#at.api.GET("/executions", { params: { query: queryAt(query, cursor) } }));
    });
  }

  get(id: string): Promise<WholeExecution> {
    return this.#at.ask(this.#at.api.GET("/executions/{id}", { params: { path: { id } } }));
  }

  /** The execution once it is over; asked for more and more seldom. One that waits for people may take days. */
  async untilEnded(id: string, { onStatus, signal }: FollowOptions = {}): Promise<WholeExecution> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
      signal?.throwIfAborted();
      const execution = await this.get(id);
      onStatus?.(execution);
      if (!goingOn.has(execution.status)) return execution;
      await this.#at.sleep(pauseMs);
    }
  }

  /** Stops a run; of one that is over it says how it ended. */
  cancel(id: string): Promise<StartedExecution> {
    return this.#at.ask(this.#at.api.POST("/executions/{id}/cancel", { params: { path: { id } } }));
  }

  /** The chain of work, link by link; `full` adds code, contexts and logs. */
  chain(id: string, { full = false, limit }: { full?: boolean; limit?: number } = {}): AsyncGenerator<ChainEntry> {
    const asked = { ...(full && { full: "true" as const }), ...(limit !== undefined && { limit }) };
    return itemsOf((cursor) => {
      const query = queryAt(asked, cursor);
      return this.#at.ask(this.#at.api.GET("/executions/{id}/chain", { params: { path: { id }, query } }));
    });
  }

  /** One link with code, contexts and logs; `scope` names the branch that it is in. */
  link(id: string, seq: number, { scope = "" } = {}): Promise<ChainEntry> {
    const query = { full: "true" as const, ...(scope !== "" && { scope }) };
    const params = { path: { id, seq }, query };
    return this.#at.ask(this.#at.api.GET("/executions/{id}/chain/{seq}", { params }));
  }

  verify(id: string): Promise<Schemas["Verification"]> {
    return this.#at.ask(this.#at.api.GET("/executions/{id}/verify", { params: { path: { id } } }));
  }
}
