import type { Schemas } from "./schemas.ts";

/** The API refused: RFC 9457. The message is one sentence with the way out. */
export class ApiProblem extends Error {
  override name = "ApiProblem";
  readonly status: number;
  readonly title: string;
  /** Of a definition: everything that is wrong with it. */
  readonly findings: NonNullable<Schemas["Problem"]["findings"]>;
  /** Of a request that does not fit: each place. */
  readonly errors: NonNullable<Schemas["Problem"]["errors"]>;

  constructor(status: number, body: unknown) {
    const isProblem = body !== null && typeof body === "object" && "detail" in body && typeof body.detail === "string";
    const problem = isProblem ? (body as Schemas["Problem"]) : undefined;
    super(problem?.detail ?? `the server answered ${status} and did not say why - ask whoever runs it`);
    this.status = status;
    this.title = problem?.title ?? `Status ${status}`;
    this.findings = problem?.findings ?? [];
    this.errors = problem?.errors ?? [];
  }
}

/** Nobody answered, or what answered is no NOVA. */
export class ApiUnreachable extends Error {
  override name = "ApiUnreachable";
}
