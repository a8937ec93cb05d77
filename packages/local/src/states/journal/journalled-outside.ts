import type { Json } from "../../json.ts";
import type { LambdaResult } from "../../lambda-types.ts";
import { StateFailure } from "../asl/failure.ts";
import {
  type ChildStart,
  DECIDED,
  type EndedChild,
  type LambdaCall,
  type ObjectPlace,
  type Outside,
  type PendingTask,
  type Purpose,
  type StartedChild,
} from "../asl/outside.ts";
import { tokenOf } from "../asl/task/task-tokens.ts";
import type { Opening } from "../store/lines.ts";
import type { Asks } from "./asks.ts";
import { Chance } from "./chance.ts";
import type { Keeper } from "./keeper.ts";

type Hands = Omit<Pick<Keeper, "invokeLambda" | "startChild" | "stopChild" | "readObject">, "invokeLambda"> & {
  invokeLambda(call: LambdaCall): Promise<LambdaResult>;
};

/** How a task was answered: SendTaskSuccess or SendTaskFailure. */
export type TaskAnswer = { output: Json } | { failure: { error?: string; cause?: string } };

/** Time, chance and answers as the journal has them: the time is that of the last input, the chance comes from a seed. */
export class JournalledOutside implements Outside {
  readonly #executionArn: string;
  readonly #asks: Asks;
  readonly #hands: Hands;
  readonly #chance: Chance;
  #nowMs: number;
  #requests = 0;

  constructor(executionArn: string, opening: Opening, asks: Asks, hands: Hands) {
    this.#executionArn = executionArn;
    this.#asks = asks;
    this.#hands = hands;
    this.#chance = new Chance(opening.seed);
    this.#nowMs = opening.at;
  }

  readonly now = () => this.#nowMs;
  readonly random = () => this.#chance.number();
  readonly uuid = () => this.#chance.uuid();

  /** What is said from now on is said at that time. */
  setTime(ms: number): void {
    this.#nowMs = ms;
  }

  async sleep(ms: number, purpose: Purpose, over: AbortSignal): Promise<void> {
    if (ms > 0) await this.#asks.ask({ kind: purpose, dueMs: this.#nowMs + ms }, over);
  }

  async invokeLambda(call: LambdaCall, over: AbortSignal): Promise<LambdaResult> {
    const kind = call.handsOutToken ? "request" : "lambda";
    const begin = () => this.#hands.invokeLambda(call) as Promise<Json>;
    return (await this.#asks.ask({ kind, begin }, over)) as LambdaResult;
  }

  issueToken(): PendingTask {
    const token = tokenOf(this.#executionArn, this.#chance.bytes());
    let lastBeatMs = this.#nowMs;
    const onBeat = (atMs: number) => {
      lastBeatMs = atMs;
    };
    return {
      token,
      get lastBeatMs() {
        return lastBeatMs;
      },
      answer: (over) => this.#asks.ask({ kind: "token", token, onBeat }, over).then(outputOf),
    };
  }

  async startExecution(child: ChildStart, over: AbortSignal): Promise<StartedChild> {
    const request = `${this.#executionArn}#${++this.#requests}`;
    const begin = async () => ({ ...this.#hands.startChild(child, request) });
    return (await this.#asks.ask({ kind: "start", request, begin }, over)) as unknown as StartedChild;
  }

  async executionEnded(child: string, over: AbortSignal): Promise<EndedChild> {
    const onOver = (reason: unknown) => {
      if (reason !== DECIDED) this.#hands.stopChild(child);
    };
    return (await this.#asks.ask({ kind: "child", child, onOver }, over)) as unknown as EndedChild;
  }

  readJson(place: ObjectPlace, over: AbortSignal): Promise<Json> {
    const begin = async () => JSON.parse(await this.#hands.readObject(place)) as Json;
    return this.#asks.ask({ kind: "read", begin }, over);
  }
}

function outputOf(value: Json): Json {
  const answer = value as TaskAnswer;
  if ("output" in answer) return answer.output;
  throw new StateFailure(answer.failure.error, answer.failure.cause);
}
