import type { Body, Connection } from "../connection.ts";
import type { paths } from "../schema.d.ts";

type SessionBody = Body<"/sessions", "post">;
type EdgeBody = Body<"/sessions/{id}/edges", "post">;
type ListQuery = NonNullable<paths["/sessions"]["get"]["parameters"]["query"]>;

export type SessionOptions = Omit<SessionBody, "context" | "nodes"> & {
  /** What every run of the draft begins with. */
  context?: object;
  /** As a workflow file writes them. */
  nodes?: readonly object[];
};

/** What you have read, and expects to be so still: who comes second is told what was changed. */
export interface ReadVersion {
  /** Of the node. */
  version?: number;
}

export interface RunWait {
  /** Seconds (25 at most, which is what it is where absent) to wait for the end before answering that it runs. */
  wait?: number;
}

export function sessionsAt({ api, ask, list }: Connection) {
  const path = (id: string) => ({ path: { id } });
  const at = (id: string, node: string, query: ReadVersion = {}) => ({ params: { path: { id, node }, query } });
  return {
    /** An empty one, or one whose draft begins as a workflow. */
    create: (options: SessionOptions = {}) => ask(api.POST("/sessions", { body: options as SessionBody })),
    list: (query: Omit<ListQuery, "cursor"> = {}) => list("/sessions", { query }),
    get: (id: string) => ask(api.GET("/sessions/{id}", { params: path(id) })),
    delete: (id: string) => ask(api.DELETE("/sessions/{id}", { params: path(id) })),

    addNode: (id: string, node: { id: string }) =>
      ask(api.POST("/sessions/{id}/nodes", { params: path(id), body: node as never })),
    /** Fields that are to be others; null takes one away. */
    changeNode: (id: string, node: string, changes: object, read?: ReadVersion) =>
      ask(api.PATCH("/sessions/{id}/nodes/{node}", { ...at(id, node, read), body: changes as never })),
    deleteNode: (id: string, node: string, read?: ReadVersion) =>
      ask(api.DELETE("/sessions/{id}/nodes/{node}", at(id, node, read))),
    addEdge: (id: string, edge: EdgeBody) =>
      ask(api.POST("/sessions/{id}/edges", { params: { ...path(id), query: {} }, body: edge })),
    /** Without a condition every edge between the two. */
    deleteEdge: (id: string, { from, to, condition }: EdgeBody) => {
      const query = { from, to, ...(condition !== undefined && { condition: String(condition) }) };
      return ask(api.DELETE("/sessions/{id}/edges", { params: { ...path(id), query } }));
    },

    /** Of these nodes, or of all. */
    outputs: (id: string, nodes: readonly string[] = []) => {
      const query = nodes.length === 0 ? {} : { node: nodes.join(",") };
      return ask(api.GET("/sessions/{id}/outputs", { params: { ...path(id), query } }));
    },
    /** By hand: keys of the context with their values; it wins over whatever runs meanwhile. */
    writeOutput: (id: string, node: string, output: unknown, read?: ReadVersion) =>
      ask(api.PUT("/sessions/{id}/nodes/{node}/output", { ...at(id, node, read), body: { output } as never })),

    /** Runs what is stale, in order. */
    run: (id: string, query: RunWait = {}) => ask(api.POST("/sessions/{id}/run", { params: { ...path(id), query } })),
    /** Runs one node alone, on what those before it have come to last. */
    runNode: (id: string, node: string, { context_data, ...query }: RunWait & { context_data?: object } = {}) =>
      ask(
        api.POST("/sessions/{id}/nodes/{node}/run", {
          params: { path: { id, node }, query },
          body: (context_data ? { context_data } : {}) as never,
        }),
      ),

    /** The draft as the next version of a workflow. */
    publish: (id: string, options: { workflow?: string; name?: string } = {}) =>
      ask(api.POST("/sessions/{id}/publish", { params: path(id), body: options })),
  };
}
