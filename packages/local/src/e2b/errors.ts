/** What goes wrong with the E2B server itself: no Python, a zygote that does not start. */
export class E2bServerError extends Error {
  override readonly name = "E2bServerError";
}

/** An answer other than success, with the words and the JSON shape that E2B uses (its SDK reads `code`). */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    message: string,
    more: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(message);
    this.status = status;
    this.body = { code: status, message, ...more };
    this.headers = headers;
  }
}

export function unknownSandbox(id: string): Refusal {
  return new Refusal(404, `Sandbox "${id}" doesn't exist or you don't have access to it`);
}

/** The answer of the gateway in front of the sandboxes; its body has `sandboxId` first. */
export function unreachableSandbox(id: string): Refusal {
  return new Refusal(502, "The sandbox was not found", { sandboxId: id });
}
