import { APIConnectionError, APIError } from "openai/core/error";
import { type ModelErrorReason, ProviderFailed, whereNodesRun } from "./model-error.ts";
import { unreadableAnswer } from "./provider-answer.ts";

export interface Failure {
  reason: ModelErrorReason;
  message: string;
}

/** The role, the model and the host of a call. The error messages of the call name them. */
export interface CallTarget {
  role: string;
  model: string;
  host: string;
}

/** Turns the error of a request into a reason and a message. The message also says what the user can do. */
export function explainFailure(error: unknown, asked: CallTarget): Failure {
  if (error instanceof ProviderFailed) {
    const said = oneLine(error.message);
    return failureByCode(error.code, said, asked) ?? unavailable(asked, said);
  }
  if (error instanceof APIConnectionError) {
    return unavailable(asked, `it cannot be reached; see OPENAI_BASE_URL and the network ${whereNodesRun}`);
  }
  if (!(error instanceof APIError)) {
    return unavailable(
      asked,
      `what it sent is no answer of this API (${oneLine(String(error))}); see OPENAI_BASE_URL ${whereNodesRun}`,
    );
  }
  const said = oneLine(error.message);
  return (
    failureByCode(error.code ?? "", said, asked) ??
    byStatus[error.status ?? 500]?.(asked, said) ??
    refusedRequest(error.status, asked, said)
  );
}

type Explain = (asked: CallTarget, said: string) => Failure;

function failureByCode(code: string, said: string, asked: CallTarget): Failure | undefined {
  return Object.hasOwn(byCode, code) ? byCode[code]?.(asked, said) : undefined;
}

const refusedPrompt: Explain = ({ host, role }, said) => ({
  reason: "refused",
  message: `${host} refused the prompt of the ${role} (${said}) - say the task in other words`,
});

const byCode: Readonly<Record<string, Explain>> = {
  model_not_found: unknownModel,
  insufficient_quota: (asked) => unavailable(asked, "the account's quota is spent; raise it or use another key"),
  [unreadableAnswer]: (asked, said) => unavailable(asked, said.replace(/^\d+ /, "")),
  invalid_prompt: refusedPrompt,
  content_policy_violation: refusedPrompt,
  context_length_exceeded: ({ role, model }) => ({
    reason: "invalid",
    message: `the prompt of the ${role} is too long for model "${model}" - shorten the task, or name a model with a longer context`,
  }),
};

const byStatus: Readonly<Record<number, Explain>> = {
  401: ({ host }) => ({
    reason: "unauthorized",
    message: `${host} does not accept the key (401) - set OPENAI_API_KEY to one of its keys ${whereNodesRun}`,
  }),
  403: ({ model, host }) => ({
    reason: "unauthorized",
    message: `the key may not use model "${model}" at ${host} (403) - name another model, or use a key that may`,
  }),
  404: (asked, said) => {
    if (/model/i.test(said)) return unknownModel(asked);
    const wayOut = `see OPENAI_BASE_URL ${whereNodesRun}, or set NOVA_LLM_API=chat there`;
    return unavailable(asked, `it has no such API (404); ${wayOut}`);
  },
  ...Object.fromEntries([301, 302, 303, 307, 308].map((status) => [status, redirects])),
  429: (asked) => unavailable(asked, "its rate limit is reached (429), after retries; run fewer nodes at a time"),
};

function redirects(asked: CallTarget): Failure {
  const advice = `set OPENAI_BASE_URL to the address of the server itself ${whereNodesRun}`;
  return unavailable(asked, `it redirects to another address, and prompts and keys follow no redirect; ${advice}`);
}

function refusedRequest(status = 500, asked: CallTarget, said: string): Failure {
  if (status >= 500 || status === 408 || status === 409)
    return unavailable(asked, `it failed, after retries (${said})`);
  return { reason: "invalid", message: `${asked.host} refused the request of the ${asked.role} as wrong: ${said}` };
}

function unknownModel({ role, model, host }: CallTarget): Failure {
  return {
    reason: "unknown_model",
    message: `${host} does not know model "${model}" of the ${role} - name one that it serves in the node's or workflow's model, or in DEFAULT_MODEL`,
  };
}

export function unavailable({ model, host }: CallTarget, why: string): Failure {
  return { reason: "unavailable", message: `model "${model}" at ${host} gave no answer: ${why}` };
}

/** Shortens a provider's message, which may be a whole page, to one line. */
function oneLine(message: string): string {
  const line = message.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
