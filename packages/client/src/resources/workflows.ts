import type { Connection } from "../connection.ts";
import type { Schemas } from "../schemas.ts";

/** A definition as it is written, or with the text of the files that it names. */
export type Source = object | { definition: object; files: Record<string, string> };

export const workflowsAt = ({ api, ask, list }: Connection) => ({
  /** Stores a version and publishes it; `publishing` ones are ready later. Throws `ApiProblem` with the findings. */
  publish: (source: Source) => ask(api.POST("/workflows", { body: source as Record<string, never> })),

  /** What is wrong with a definition; nothing is stored. */
  validate: (source: Source) => ask(api.POST("/workflows/validate", { body: source as Record<string, never> })),

  /** What is wrong with a version as of now. */
  findings: (id: string, query: { version?: number } = {}) =>
    ask(api.GET("/workflows/{id}/findings", { params: { path: { id }, query } })),

  list: () => list("/workflows", {}),

  /** The latest version, or the one that is named. */
  get: (id: string, query: { version?: number } = {}) =>
    ask(api.GET("/workflows/{id}", { params: { path: { id }, query } })),

  /** Newest first. */
  versions: (id: string) => list("/workflows/{id}/versions", { path: { id } }),

  /** Code that models wrote for it. */
  generations: (id: string) => list("/workflows/{id}/generations", { path: { id } }),

  /** Lets code that a model wrote run, or run no more. */
  review: (id: string, body: Schemas["CodeReview"]) =>
    ask(api.POST("/workflows/{id}/generations/review", { params: { path: { id } }, body })),

  /** The state machine that a version compiles to. */
  asl: (id: string, query: { version?: number } = {}) =>
    ask(api.GET("/workflows/{id}/asl", { params: { path: { id }, query } })),

  /** Makes a version what new runs use. */
  activate: (id: string, version: number) =>
    ask(api.POST("/workflows/{id}/activate", { params: { path: { id } }, body: { version } })),

  async delete(id: string): Promise<void> {
    await ask(api.DELETE("/workflows/{id}", { params: { path: { id } } }));
  },
});
