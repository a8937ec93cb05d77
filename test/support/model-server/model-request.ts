import type { ModelRole } from "@nova/workflow";

export type Api = "responses" | "chat" | "embeddings";

/** A request to the provider, the same whatever its API. */
export interface ModelRequest {
  api: Api;
  /** Who asks; every request names it in `X-Client-Request-Id`. */
  role: ModelRole | "embedding";
  model: string;
  instructions: string;
  /** What the user said; of embeddings, their texts, one per line. */
  input: string;
  /** What tools have found so far. */
  toolResults: string[];
  /** Names of the tools on offer. */
  tools: string[];
  mayCall: boolean;
  /** Name of the schema that the answer is held to; null where it is not. */
  answer: string | null;
  stream: boolean;
  headers: Record<string, string>;
  body: unknown;
}
