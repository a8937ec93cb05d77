import type { Body, Connection } from "./connection.ts";
import type { paths } from "./schema.d.ts";

type SessionBody = Body<"/sessions", "post">;
type EdgeBody = Body<"/sessions/{id}/edges", "post">;
type ListQuery = NonNullable<paths["/sessions"]["get"]["parameters"]["query"]>;

export type SessionOptions = Omit<SessionBody, "context" | "nodes"> & {
  context?: object;
  nodes?: readonly object[];
};

/** The version that the caller has read. The API refuses the change if the node has changed since then. */
export interface ReadVersion {
  version?: number;
}

export interface RunWait {
  /** Seconds (at most 25, the default) that the server waits for the end of the run before it answers. */
  wait?: number;
}

export function sessionsAt({ api, ask, list }: Connection) {
  const path = (id: string) => ({ path: { id } });
  const at = (id: string, node: string, query: ReadVersion = {}) => ({ params: { path: { id, node }, query } });
  return {
    /** Creates an empty session, or one whose draft is a copy of a workflow. */
    create: (options: SessionOptions = {}) => ask(api.POST("/sessions", { body: options as SessionBody })),
    list: (query: Omit<ListQuery, "cursor"> = {}) => list("/sessions", { query }),
    get: (id: string) => ask(api.GET("/sessions/{id}", { params: path(id) })),
    delete: (id: string) => ask(api.DELETE("/sessions/{id}", { params: path(id) })),

    addNode: (id: string, node: { id: string }) =>
      ask(api.POST("/sessions/{id}/nodes", { params: path(id), body: node as never })),
    /** Replaces fields of a node; null removes a field. */
    changeNode: (id: string, node: string, changes: object, read?: ReadVersion) =>
      ask(api.PATCH("/sessions/{id}/nodes/{node}", { ...at(id, node, read), body: changes as never })),
    deleteNode: (id: string, node: string, read?: ReadVersion) =>
      ask(api.DELETE("/sessions/{id}/nodes/{node}", at(id, node, read))),
    addEdge: (id: string, edge: EdgeBody) =>
      ask(api.POST("/sessions/{id}/edges", { params: { ...path(id), query: {} }, body: edge })),
    /** Deletes the edge with this condition; without a condition, every edge between the two nodes. */
    deleteEdge: (id: string, { from, to, condition }: EdgeBody) => {
      const query = { from, to, ...(condition !== undefined && { condition: String(condition) }) };
      return ask(api.DELETE("/sessions/{id}/edges", { params: { ...path(id), query } }));
    },

    outputs: (id: string, nodes: readonly string[] = []) => {
      const query = nodes.length === 0 ? {} : { node: nodes.join(",") };
      return ask(api.GET("/sessions/{id}/outputs", { params: { ...path(id), query } }));
    },
    /**
     * Sets the output of a node by hand, as keys of the context. This output takes precedence over the result of a run
     * in progress.
     */
    writeOutput: (id: string, node: string, output: unknown, read?: ReadVersion) =>
      ask(api.PUT("/sessions/{id}/nodes/{node}/output", { ...at(id, node, read), body: { output } as never })),

    /** Runs the stale nodes in order. */
    run: (id: string, query: RunWait = {}) => ask(api.POST("/sessions/{id}/run", { params: { ...path(id), query } })),
    /** Runs one node alone, with the last outputs of the nodes before it. */
    runNode: (id: string, node: string, { context_data, ...query }: RunWait & { context_data?: object } = {}) =>
      ask(
        api.POST("/sessions/{id}/nodes/{node}/run", {
          params: { path: { id, node }, query },
          body: (context_data ? { context_data } : {}) as never,
        }),
      ),

    publish: (id: string, options: { workflow?: string; name?: string } = {}) =>
      ask(api.POST("/sessions/{id}/publish", { params: path(id), body: options })),
  };
}
