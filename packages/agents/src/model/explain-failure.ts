import { APIConnectionError, APIError } from "openai/core/error";
import { type ModelErrorReason, ProviderFailed, whereNodesRun } from "./model-error.ts";

export interface Failure {
  reason: ModelErrorReason;
  message: string;
}

/** Where a call went, as its errors name it. */
export interface Asked {
  role: string;
  model: string;
  /** Of the provider, without its path. */
  host: string;
}

/** What an error of a request means to whoever runs the node. */
export function explainFailure(error: unknown, asked: Asked): Failure {
  if (error instanceof ProviderFailed) {
    return ofCode(error.code, error.message, asked) ?? unavailable(asked, error.message);
  }
  if (error instanceof APIConnectionError) {
    return unavailable(asked, `it cannot be reached; see OPENAI_BASE_URL and the network ${whereNodesRun}`);
  }
  if (!(error instanceof APIError)) {
    return unavailable(
      asked,
      `what it sent is no answer of this API (${sentence(String(error))}); see OPENAI_BASE_URL ${whereNodesRun}`,
    );
  }
  const said = sentence(error.message);
  return ofCode(error.code ?? "", said, asked) ?? ofStatus(error.status, said, asked);
}

function ofCode(code: string, said: string, asked: Asked): Failure | undefined {
  switch (code) {
    case "model_not_found":
      return unknownModel(asked);
    case "insufficient_quota":
      return unavailable(asked, "the account's quota is spent; raise it or use another key");
    case "invalid_prompt":
    case "content_policy_violation":
      return {
        reason: "refused",
        message: `${asked.host} refused the prompt of the ${asked.role} (${said}) - say the task in other words`,
      };
    case "context_length_exceeded":
      return {
        reason: "invalid",
        message: `the prompt of the ${asked.role} is too long for model "${asked.model}" - shorten the task, or name a model with a longer context`,
      };
    default:
      return undefined;
  }
}

function ofStatus(status: number | undefined, said: string, asked: Asked): Failure {
  switch (status) {
    case 401:
      return {
        reason: "unauthorized",
        message: `${asked.host} does not accept the key (401) - set OPENAI_API_KEY to one of its keys ${whereNodesRun}`,
      };
    case 403:
      return {
        reason: "unauthorized",
        message: `the key may not use model "${asked.model}" at ${asked.host} (403) - name another model, or use a key that may`,
      };
    case 404:
      return /model/i.test(said)
        ? unknownModel(asked)
        : unavailable(
            asked,
            `it has no such API (404); see OPENAI_BASE_URL ${whereNodesRun}, or set NOVA_LLM_API=chat there`,
          );
    case 429:
      return unavailable(asked, "its rate limit is reached (429), after retries; run fewer nodes at a time");
    default:
      return (status ?? 500) >= 500 || status === 408 || status === 409
        ? unavailable(asked, `it failed, after retries (${said})`)
        : { reason: "invalid", message: `${asked.host} refused the request of the ${asked.role} as wrong: ${said}` };
  }
}

function unknownModel({ role, model, host }: Asked): Failure {
  return {
    reason: "unknown_model",
    message: `${host} does not know model "${model}" of the ${role} - name one that it serves in the node's or workflow's model, or in DEFAULT_MODEL`,
  };
}

export function unavailable({ model, host }: Asked, why: string): Failure {
  return { reason: "unavailable", message: `model "${model}" at ${host} gave no answer: ${why}` };
}

/** Providers write pages into errors at times. */
function sentence(message: string): string {
  const line = message.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
