/** A request that carries an `Idempotency-Key`. */
export interface Attempt {
  format: 1;
  /** Id of the API key that sent it: keys of others never meet. */
  principal: string;
  /** Whose the key is; absent where it is for all clients. */
  client?: string;
  /** SHA-256 of the header. */
  key: string;
  /** SHA-256 of what was asked. */
  fingerprint: string;
  /** A ULID for what is to be made: whoever takes an abandoned attempt over makes the same thing. */
  id: string;
  /** ISO 8601: when somebody last began with it. */
  since: string;
  /** What was made, JSON text; absent while it is under way. */
  made?: string;
  /** Seconds since the epoch, as DynamoDB's time to live has it. */
  expiresAt: number;
}

export type AttemptName = Pick<Attempt, "principal" | "key">;

export interface AttemptStore {
  /** Undefined: begun. Otherwise the one that is there and has not expired. */
  begin(attempt: Attempt, now: number): Promise<Attempt | undefined>;
  /** Goes on with one that was begun at `since`; false where somebody else already does. */
  takeOver(name: AttemptName, since: string, now: string): Promise<boolean>;
  /** Nothing happens where it went with its client. */
  finish(name: AttemptName, made: string): Promise<void>;
  /** Nobody is at it any more: the next request may take it over at once. Nothing happens where it went with its client. */
  release(name: AttemptName): Promise<void>;
}
