import type { ModelRole } from "@nova/workflow";

export type Api = "responses" | "chat" | "embeddings";

/** A request to the provider in a form that does not depend on the API. */
export interface ModelRequest {
  api: Api;
  /** The role of the agent that sends the request, from the header `X-Client-Request-Id`. */
  role: ModelRole | "embedding";
  model: string;
  instructions: string;
  /** The text of the user's message. For embeddings: the texts, one per line. */
  input: string;
  /** The results of the tool calls that the model has made so far. */
  toolResults: string[];
  /** Names of the available tools. */
  tools: string[];
  mayCall: boolean;
  /** The name of the schema that the answer must have; null if the request has no schema. */
  answer: string | null;
  stream: boolean;
  headers: Record<string, string>;
  body: unknown;
}
