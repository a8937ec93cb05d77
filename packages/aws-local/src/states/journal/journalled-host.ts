import { createHmac } from "node:crypto";
import type { Json } from "../../json.ts";
import type { LambdaResult } from "../../lambda-types.ts";
import type { Outcome } from "../asl/execute.ts";
import { StateFailure } from "../asl/failure.ts";
import {
  type ChildStart,
  DECIDED,
  type EndedChild,
  type Host,
  type LambdaCall,
  type ObjectPlace,
  type PendingTask,
  type Purpose,
  type ReadObject,
  type StartedChild,
  tokenOf,
} from "../asl/host.ts";
import type { Line, Opening } from "../store/lines.ts";
import type { PendingRequests } from "./pending-requests.ts";

/** The owner of an execution. It performs the requests of the execution and writes its journal. */
export interface Owner {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Adds a line to the execution's file. */
  write(line: Line): void;
  /**
   * Invokes a function. `over` aborts when the answer is no longer needed; it also identifies the time limit of the
   * call.
   */
  invokeLambda(call: LambdaCall, stopSignal: AbortSignal, over: AbortSignal): Promise<LambdaResult>;
  /**
   * Starts a child. A repeated request returns the same child. @throws Error with the name of the failure that AWS
   * reports
   */
  startChild(child: ChildStart, request: string): StartedChild;
  readObject: ReadObject;
  stopChild(executionArn: string): void;
  /** Returns the end of an execution that this one has started (a child); undefined while the child runs. */
  endOfChild(executionArn: string): Json | undefined;
  /** Called when the execution can do nothing but wait for an answer or for a time. */
  onRest(): void;
  onEnd(outcome: Outcome): void;
  /**
   * Returns undefined if the disk has space. Otherwise the returned promise resolves when the next write may be tried.
   */
  pause(): Promise<void> | undefined;
}

/** The answer to a task: the output of SendTaskSuccess, or the failure of SendTaskFailure. */
export type TaskAnswer = { output: Json } | { failure: { error?: string; cause?: string } };

/**
 * A host that gives an execution the time, random numbers and answers of its journal. It computes the random numbers
 * from the seed in the journal: they are the same each time, and unpredictable without the seed.
 */
export class JournalledHost implements Host {
  readonly #executionArn: string;
  readonly #pending: PendingRequests;
  readonly #owner: Owner;
  readonly #stopSignal: AbortSignal;
  readonly #seed: Buffer;
  /** The time of the last input, which is also the time of the events that follow from it. */
  nowMs: number;
  #drawn = 0;
  #started = 0;

  constructor(executionArn: string, opening: Opening, pending: PendingRequests, owner: Owner, stopSignal: AbortSignal) {
    this.#executionArn = executionArn;
    this.#pending = pending;
    this.#owner = owner;
    this.#stopSignal = stopSignal;
    this.#seed = Buffer.from(opening.seed, "hex");
    this.nowMs = opening.at;
  }

  readonly now = () => this.nowMs;
  readonly random = () => this.#draw().readUIntBE(0, 6) / 2 ** 48;

  readonly uuid = () => {
    const bytes = this.#draw();
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    return bytes.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  };

  async sleep(ms: number, purpose: Purpose, over: AbortSignal): Promise<void> {
    if (ms > 0) await this.#pending.request({ kind: purpose, dueMs: this.nowMs + ms }, over);
  }

  async invokeLambda(call: LambdaCall, over: AbortSignal): Promise<LambdaResult> {
    const kind = call.handsOutToken ? "request" : "lambda";
    const begin = () => this.#owner.invokeLambda(call, this.#stopSignal, over) as Promise<Json>;
    return (await this.#pending.request({ kind, begin }, over)) as LambdaResult;
  }

  issueToken(): PendingTask {
    const token = tokenOf(this.#executionArn, this.#draw());
    return { token, answer: (over) => this.#pending.request({ kind: "token", token }, over).then(outputOf) };
  }

  async startExecution(child: ChildStart, over: AbortSignal): Promise<StartedChild> {
    const request = `${this.#executionArn}#${++this.#started}`;
    const begin = async () => ({ ...this.#owner.startChild(child, request) });
    return (await this.#pending.request({ kind: "start", request, begin }, over)) as unknown as StartedChild;
  }

  async executionEnded(child: string, over: AbortSignal): Promise<EndedChild> {
    const onOver = (reason: unknown) => {
      if (reason !== DECIDED) this.#owner.stopChild(child);
    };
    return (await this.#pending.request({ kind: "child", child, onOver }, over)) as unknown as EndedChild;
  }

  readJson(place: ObjectPlace, over: AbortSignal): Promise<Json> {
    const begin = async () => JSON.parse(await this.#owner.readObject(place)) as Json;
    return this.#pending.request({ kind: "read", begin }, over);
  }

  /** Returns the next 32 random bytes. */
  #draw(): Buffer {
    return createHmac("sha256", this.#seed)
      .update(String(this.#drawn++))
      .digest();
  }
}

function outputOf(value: Json): Json {
  const answer = value as TaskAnswer;
  if ("output" in answer) return answer.output;
  throw new StateFailure(answer.failure.error, answer.failure.cause);
}
