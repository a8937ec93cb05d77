import { type Api, type ClientOptions, type Connection, connect } from "./connection.ts";
import { auditOf, Clients, Keys } from "./resources/administration.ts";
import { Credentials } from "./resources/credentials.ts";
import { Executions } from "./resources/executions.ts";
import { Tasks } from "./resources/tasks.ts";
import { upload } from "./resources/uploads.ts";
import { Workflows } from "./resources/workflows.ts";
import type { AuditRecord, Schemas } from "./schemas.ts";

/** A NOVA behind its REST API. Whatever is refused throws `ApiProblem`; where nobody answers, `ApiUnreachable`. */
export class NovaClient {
  readonly workflows: Workflows;
  readonly executions: Executions;
  readonly tasks: Tasks;
  readonly clients: Clients;
  readonly keys: Keys;
  readonly credentials: Credentials;
  readonly #at: Connection;

  constructor(at: Connection) {
    this.workflows = new Workflows(at);
    this.executions = new Executions(at);
    this.tasks = new Tasks(at);
    this.clients = new Clients(at);
    this.keys = new Keys(at);
    this.credentials = new Credentials(at);
    this.#at = at;
  }

  /** Every route, typed, for what has no method here. */
  get api(): Api {
    return this.#at.api;
  }

  /** What a route answered. Throws `ApiProblem`. */
  ask<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
    return this.#at.ask(answer);
  }

  /** Sends bytes that a run gets: `{ context: { invoice: await nova.upload(file, { bytes: file.size }) } }`. */
  upload(...sent: Parameters<typeof upload> extends [Connection, ...infer Rest] ? Rest : never) {
    return upload(this.#at, ...sent);
  }

  audit(): AsyncGenerator<AuditRecord> {
    return auditOf(this.#at);
  }

  health(): Promise<Schemas["Health"]> {
    return this.#at.ask(this.#at.api.GET("/health"));
  }
}

/** `createClient({ url: "https://nova.example.com", apiKey })` */
export function createClient(options: ClientOptions): NovaClient {
  return new NovaClient(connect(options));
}
