import type { Connection } from "../connection.ts";
import type { Schemas } from "../schemas.ts";

/** A definition as written, or with the texts of the files that it names. */
export type Source = object | { definition: object; files: Record<string, string> };

export const workflowsAt = ({ api, ask, list }: Connection) => ({
  /**
   * Stores a version and publishes it. Status `publishing` means that it is not ready yet. Throws `ApiProblem` with the
   * findings.
   */
  publish: (source: Source) => ask(api.POST("/workflows", { body: source as Record<string, never> })),

  /** Finds the mistakes of a definition without storing it. */
  validate: (source: Source) => ask(api.POST("/workflows/validate", { body: source as Record<string, never> })),

  /** Finds the current mistakes of a stored version. */
  findings: (id: string, query: { version?: number } = {}) =>
    ask(api.GET("/workflows/{id}/findings", { params: { path: { id }, query } })),

  list: () => list("/workflows", {}),

  /** The latest version, or the given one. */
  get: (id: string, query: { version?: number } = {}) =>
    ask(api.GET("/workflows/{id}", { params: { path: { id }, query } })),

  /** Newest first. */
  versions: (id: string) => list("/workflows/{id}/versions", { path: { id } }),

  /** Code that models wrote for the workflow. */
  generations: (id: string) => list("/workflows/{id}/generations", { path: { id } }),

  /** Allows or forbids running code that a model wrote. */
  review: (id: string, body: Schemas["CodeReview"]) =>
    ask(api.POST("/workflows/{id}/generations/review", { params: { path: { id } }, body })),

  /** The state machine that a version compiles to. */
  asl: (id: string, query: { version?: number } = {}) =>
    ask(api.GET("/workflows/{id}/asl", { params: { path: { id }, query } })),

  /** Makes new runs use a version. */
  activate: (id: string, version: number) =>
    ask(api.POST("/workflows/{id}/activate", { params: { path: { id } }, body: { version } })),

  async delete(id: string): Promise<void> {
    await ask(api.DELETE("/workflows/{id}", { params: { path: { id } } }));
  },
});
