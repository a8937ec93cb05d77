import type { DatabaseSync, StatementSync } from "node:sqlite";

/** DynamoDB: a client request token is good for ten minutes. */
const rememberedSeconds = 600;

/** The tokens of transactions that were done, each with what it asked for. */
export class Tokens {
  readonly #find: StatementSync;
  readonly #put: StatementSync;
  readonly #forget: StatementSync;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare("SELECT request FROM tokens WHERE token = ? AND seconds > ?");
    this.#put = database.prepare("INSERT OR REPLACE INTO tokens (token, request, seconds) VALUES (?, ?, ?)");
    this.#forget = database.prepare("DELETE FROM tokens WHERE seconds <= ?");
  }

  find(token: string, nowSeconds: number): string | undefined {
    return this.#find.get(token, nowSeconds - rememberedSeconds)?.request as string | undefined;
  }

  put(token: string, request: string, nowSeconds: number): void {
    this.#forget.run(nowSeconds - rememberedSeconds);
    this.#put.run(token, request, Math.floor(nowSeconds));
  }
}
