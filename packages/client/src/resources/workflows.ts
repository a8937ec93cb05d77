import type { Connection } from "../connection.ts";
import { itemsOf, queryAt } from "../pages.ts";
import type { Schemas, Workflow } from "../schemas.ts";

/** A definition as it is written, or with the text of the files that it names. */
export type Source = object | { definition: object; files: Record<string, string> };

export class Workflows {
  readonly #at: Connection;

  constructor(at: Connection) {
    this.#at = at;
  }

  /** Stores a version and publishes it; `publishing` ones are ready later. Throws `ApiProblem` with the findings. */
  publish(source: Source): Promise<Schemas["PublishedWorkflow"]> {
    return this.#at.ask(this.#at.api.POST("/workflows", { body: source as Record<string, never> }));
  }

  /** What is wrong with a definition; nothing is stored. */
  validate(source: Source): Promise<Schemas["Validation"]> {
    return this.#at.ask(this.#at.api.POST("/workflows/validate", { body: source as Record<string, never> }));
  }

  list(): AsyncGenerator<Workflow> {
    return itemsOf((cursor) =>
      this.#at.ask(this.#at.api.GET("/workflows", { params: { query: queryAt({}, cursor) } })),
    );
  }

  /** The latest version, or the one that is named. */
  get(id: string, query: { version?: number } = {}): Promise<Schemas["WholeWorkflow"]> {
    return this.#at.ask(this.#at.api.GET("/workflows/{id}", { params: { path: { id }, query } }));
  }

  /** Newest first. */
  versions(id: string): AsyncGenerator<Schemas["WorkflowVersion"]> {
    return itemsOf((cursor) => {
      const params = { path: { id }, query: queryAt({}, cursor) };
      return this.#at.ask(this.#at.api.GET("/workflows/{id}/versions", { params }));
    });
  }

  /** Code that models wrote for it. */
  generations(id: string): AsyncGenerator<Schemas["Generation"]> {
    return itemsOf((cursor) => {
      const params = { path: { id }, query: queryAt({}, cursor) };
      return this.#at.ask(this.#at.api.GET("/workflows/{id}/generations", { params }));
    });
  }

  /** The state machine that a version compiles to. */
  asl(id: string, query: { version?: number } = {}) {
    return this.#at.ask(this.#at.api.GET("/workflows/{id}/asl", { params: { path: { id }, query } }));
  }

  /** Makes a version what new runs use. */
  activate(id: string, version: number): Promise<Schemas["ActivatedWorkflow"]> {
    const asked = { params: { path: { id } }, body: { version } };
    return this.#at.ask(this.#at.api.POST("/workflows/{id}/activate", asked));
  }

  async delete(id: string): Promise<void> {
    await this.#at.ask(this.#at.api.DELETE("/workflows/{id}", { params: { path: { id } } }));
  }
}
