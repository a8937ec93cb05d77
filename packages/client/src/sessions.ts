import type { Body, Connection } from "./connection.ts";
import type { paths } from "./schema.d.ts";
import type { Schemas } from "./schemas.ts";

type SessionBody = Body<"/sessions", "post">;
type EdgeBody = Body<"/sessions/{id}/edges", "post">;
type ListQuery = NonNullable<paths["/sessions"]["get"]["parameters"]["query"]>;

export type SessionOptions = Omit<SessionBody, "context" | "nodes" | "definition"> & {
  context?: object;
  nodes?: readonly object[];
  definition?: object;
};

/**
 * Fields of a session. A given field replaces the stored field, and the session keeps the stored values of absent
 * fields.
 */
export interface DraftParts {
  name?: string;
  context?: object;
  settings?: object;
  nodes?: readonly object[];
  edges?: readonly EdgeBody[];
  layout?: Readonly<Record<string, { x: number; y: number }>>;
}

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
    /** Creates a session: empty, a copy of a workflow, from a workflow file, or around one node of a run. */
    create: (options: SessionOptions = {}) => ask(api.POST("/sessions", { body: options as SessionBody })),
    list: (query: Omit<ListQuery, "cursor"> = {}) => list("/sessions", { query }),
    get: (id: string) => ask(api.GET("/sessions/{id}", { params: path(id) })),
    delete: (id: string) => ask(api.DELETE("/sessions/{id}", { params: path(id) })),

    /** Replaces fields of the session. If the session has another `revision`, the API refuses the change. */
    change: (id: string, parts: DraftParts, query: { revision?: number } = {}) =>
      ask(api.PATCH("/sessions/{id}", { params: { ...path(id), query }, body: parts as never })),
    /** Finds mistakes in a node, given the context that it would get, and fills its prompt. */
    check: (id: string, node: string) =>
      ask(api.GET("/sessions/{id}/nodes/{node}/check", { params: { path: { id, node } } })),

    /** Adds a node to the draft, or to the nodes of a map. */
    addNode: (id: string, node: { id: string }, query: { map?: string } = {}) =>
      ask(api.POST("/sessions/{id}/nodes", { params: { ...path(id), query }, body: node as never })),
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

    /** Applies several changes to the draft, all or none, and returns its findings. */
    edit: (id: string, body: Body<"/sessions/{id}/edits", "post">) =>
      ask(api.POST("/sessions/{id}/edits", { params: path(id), body })),

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

    /**
     * Runs all stale nodes in order. A node is stale if it has no output, if it was changed after its output was
     * computed, or if it depends on a stale node.
     */
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
      ask<Schemas["PublishedSession"]>(
        api.POST("/sessions/{id}/publish", { params: path(id), body: options }) as never,
      ),
    /** Returns the findings of the workflow that `publish` would publish. */
    checkPublication: (id: string, options: { workflow?: string; name?: string } = {}) =>
      ask<Schemas["CheckedPublication"]>(
        api.POST("/sessions/{id}/publish", { params: path(id), body: { ...options, dry_run: true } }) as never,
      ),
  };
}
