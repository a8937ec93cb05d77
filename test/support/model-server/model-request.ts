import type { ModelRole } from "@nova/workflow";

export type Api = "responses" | "chat" | "embeddings";

/** A request to the provider in a form that does not depend on the API. */
export interface ModelRequest {
  api: Api;
  /** The agent's role, which every request names in `X-Client-Request-Id`. */
  role: ModelRole | "embedding";
  model: string;
  instructions: string;
  /** The user's message; for embeddings the texts, one per line. */
  input: string;
  /** Results of tools so far. */
  toolResults: string[];
  /** Names of the available tools. */
  tools: string[];
  mayCall: boolean;
  /** Name of the schema of the answer; null without a schema. */
  answer: string | null;
  stream: boolean;
  headers: Record<string, string>;
  body: unknown;
}
