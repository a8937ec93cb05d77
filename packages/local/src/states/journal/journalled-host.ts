import type { Json } from "../../json.ts";
import type { LambdaResult } from "../../lambda-types.ts";
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
  type StartedChild,
  tokenOf,
} from "../asl/host.ts";
import type { Opening } from "../store/lines.ts";
import type { Owner } from "./owner.ts";
import type { PendingRequests } from "./pending-requests.ts";
import { SeededRandom } from "./seeded-random.ts";

type Hands = Omit<Pick<Owner, "invokeLambda" | "startChild" | "stopChild" | "readObject">, "invokeLambda"> & {
  invokeLambda(call: LambdaCall): Promise<LambdaResult>;
};

/** How a task was answered: SendTaskSuccess or SendTaskFailure. */
export type TaskAnswer = { output: Json } | { failure: { error?: string; cause?: string } };

/** Time, random numbers and answers as the journal has them: the time is that of the last input, the numbers come from a seed. */
export class JournalledHost implements Host {
  readonly #executionArn: string;
  readonly #pending: PendingRequests;
  readonly #hands: Hands;
  readonly #random: SeededRandom;
  #nowMs: number;
  #started = 0;

  constructor(executionArn: string, opening: Opening, pending: PendingRequests, hands: Hands) {
    this.#executionArn = executionArn;
    this.#pending = pending;
    this.#hands = hands;
    this.#random = new SeededRandom(opening.seed);
    this.#nowMs = opening.at;
  }

  readonly now = () => this.#nowMs;
  readonly random = () => this.#random.number();
  readonly uuid = () => this.#random.uuid();

  /** What is said from now on is said at that time. */
  setTime(ms: number): void {
    this.#nowMs = ms;
  }

  async sleep(ms: number, purpose: Purpose, over: AbortSignal): Promise<void> {
    if (ms > 0) await this.#pending.request({ kind: purpose, dueMs: this.#nowMs + ms }, over);
  }

  async invokeLambda(call: LambdaCall, over: AbortSignal): Promise<LambdaResult> {
    const kind = call.handsOutToken ? "request" : "lambda";
    const begin = () => this.#hands.invokeLambda(call) as Promise<Json>;
    return (await this.#pending.request({ kind, begin }, over)) as LambdaResult;
  }

  issueToken(): PendingTask {
    const token = tokenOf(this.#executionArn, this.#random.bytes());
    return { token, answer: (over) => this.#pending.request({ kind: "token", token }, over).then(outputOf) };
  }

  async startExecution(child: ChildStart, over: AbortSignal): Promise<StartedChild> {
    const request = `${this.#executionArn}#${++this.#started}`;
    const begin = async () => ({ ...this.#hands.startChild(child, request) });
    return (await this.#pending.request({ kind: "start", request, begin }, over)) as unknown as StartedChild;
  }

  async executionEnded(child: string, over: AbortSignal): Promise<EndedChild> {
    const onOver = (reason: unknown) => {
      if (reason !== DECIDED) this.#hands.stopChild(child);
    };
    return (await this.#pending.request({ kind: "child", child, onOver }, over)) as unknown as EndedChild;
  }

  readJson(place: ObjectPlace, over: AbortSignal): Promise<Json> {
    const begin = async () => JSON.parse(await this.#hands.readObject(place)) as Json;
    return this.#pending.request({ kind: "read", begin }, over);
  }
}

function outputOf(value: Json): Json {
  const answer = value as TaskAnswer;
  if ("output" in answer) return answer.output;
  throw new StateFailure(answer.failure.error, answer.failure.cause);
}
