import type { Connection } from "../connection.ts";

export interface Answer {
  choice: string;
  /** The values for the form's fields. */
  data?: unknown;
  /** The name of the person who answers; absent: the name of the key. */
  by?: string;
}

export const tasksAt = ({ api, ask, list }: Connection) => ({
  /** Tasks that wait for a person's answer, or with kind `event` for an event; oldest first. */
  list: (query: { kind?: "approval" | "event" } = {}) => list("/tasks", { query }),

  /** Also returns a task that was answered or has expired. */
  get: (id: string) => ask(api.GET("/tasks/{id}", { params: { path: { id } } })),

  answer: (id: string, answer: Answer) =>
    ask(api.POST("/tasks/{id}", { params: { path: { id } }, body: answer as never })),

  /** Answers the only task that an execution has created so far. If there are several, `task` or `node` selects one. */
  answerIn: (id: string, answer: Answer & { task?: string; node?: string }) =>
    ask(api.POST("/executions/{id}/answer", { params: { path: { id } }, body: answer as never })),
});
