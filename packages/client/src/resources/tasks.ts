import type { Connection } from "../connection.ts";

export interface Answer {
  choice: string;
  /** What the form asks for. */
  data?: unknown;
  /** Who answers; absent: the name of the key. */
  by?: string;
}

export const tasksAt = ({ api, ask, list }: Connection) => ({
  /** What waits for somebody's answer, or of kind `event` for an event; oldest first. */
  list: (query: { kind?: "approval" | "event" } = {}) => list("/tasks", { query }),

  /** Also one that was answered, or whose time is over. */
  get: (id: string) => ask(api.GET("/tasks/{id}", { params: { path: { id } } })),

  answer: (id: string, answer: Answer) =>
    ask(api.POST("/tasks/{id}", { params: { path: { id } }, body: answer as never })),

  /** Answers the only one that an execution has asked for so far; if there are several, `task` or `node` says which. */
  answerIn: (id: string, answer: Answer & { task?: string; node?: string }) =>
    ask(api.POST("/executions/{id}/answer", { params: { path: { id } }, body: answer as never })),
});
