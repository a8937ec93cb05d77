import type { Schemas } from "./schemas.ts";

/** The API refused a request (RFC 9457). The message is one sentence that says what to do. */
export class ApiProblem extends Error {
  override name = "ApiProblem";
  readonly status: number;
  readonly title: string;
  /** All findings of a rejected definition. */
  readonly findings: NonNullable<Schemas["Problem"]["findings"]>;
  /** Every invalid part of the request. */
  readonly errors: NonNullable<Schemas["Problem"]["errors"]>;

  constructor(status: number, body: unknown) {
    const isProblem = body !== null && typeof body === "object" && "detail" in body && typeof body.detail === "string";
    const problem = isProblem ? (body as Schemas["Problem"]) : undefined;
    super(problem?.detail ?? `the server answered ${status} and did not say why - ask the operator of the server`);
    this.status = status;
    this.title = problem?.title ?? `Status ${status}`;
    this.findings = problem?.findings ?? [];
    this.errors = problem?.errors ?? [];
  }
}

/** No server answers, or the one that answers is not NOVA. */
export class ApiUnreachable extends Error {
  override name = "ApiUnreachable";
}
