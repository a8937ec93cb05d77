import type { Connection } from "../connection.ts";
import { itemsOf, queryAt } from "../pages.ts";
import type { Schemas, Task } from "../schemas.ts";

export interface Answer {
  choice: string;
  /** What the form asks for. */
  data?: unknown;
  /** Who answers; absent: the name of the key. */
  by?: string;
}

export class Tasks {
  readonly #at: Connection;

  constructor(at: Connection) {
    this.#at = at;
  }

  /** What waits for somebody's answer, or of kind `event` for an event; oldest first. */
  list(query: { kind?: "approval" | "event" } = {}): AsyncGenerator<Task> {
    return itemsOf((cursor) => this.#at.ask(this.#at.api.GET("/tasks", { params: { query: queryAt(query, cursor) } })));
  }

  answer(id: string, answer: Answer): Promise<Schemas["AnsweredTask"]> {
    return this.#at.ask(this.#at.api.POST("/tasks/{id}", { params: { path: { id } }, body: answer as never }));
  }

  /** Answers the one that an execution waits for; `node` says which, where there are several. */
  answerIn(execution: string, answer: Answer & { node?: string }): Promise<Schemas["AnsweredTask"]> {
    const params = { path: { id: execution } };
    return this.#at.ask(this.#at.api.POST("/executions/{id}/answer", { params, body: answer as never }));
  }
}
