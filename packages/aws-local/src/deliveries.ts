import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "@nova/serve-local";
import { Backlog, type DiskSpace } from "./disk/disk-space.ts";
import { LineFile } from "./disk/line-file.ts";

export interface Delivery {
  functionArn: string;
  /** JSON text. */
  payload: string;
  /** Whether this delivery waits until the previous delivery to the same function has ended. */
  inTurn: boolean;
}

type Line = { id: string; delivery: Delivery } | { id: string; ended: true };

/**
 * Invokes a function with a payload, and retries as often as Lambda does. Resolves with false if every attempt failed.
 */
export type Invoke = (functionArn: string, payload: string) => Promise<boolean>;

/**
 * Delivers payloads to functions. A payload is on disk before its delivery is accepted. If the process is killed, the
 * next process delivers the remaining payloads, and repeats a delivery that the kill interrupted, as in the cloud.
 */
export class Deliveries {
  readonly #folder: string;
  readonly #path: string;
  readonly #invoke: Invoke;
  readonly #now: () => number;
  readonly #backlog: Backlog;
  #file: LineFile<Line> | undefined;
  #drives = false;
  readonly #waiting = new Map<string, Delivery>();
  readonly #underWay = new Set<Promise<void>>();
  /**
   * By ARN of a function that takes one delivery at a time: a promise that resolves when its latest delivery has ended.
   */
  readonly #turns = new Map<string, Promise<void>>();

  /**
   * Keeps two files in `folder`. One has the deliveries under way. The other has the payloads that no attempt could
   * deliver (a dead-letter queue).
   */
  constructor(folder: string, invoke: Invoke, disk: DiskSpace, now = Date.now) {
    this.#folder = folder;
    this.#path = join(folder, "deliveries.ndjson");
    this.#invoke = invoke;
    this.#now = now;
    this.#backlog = new Backlog(disk);
  }

  /** Accepts a delivery. Throws if the disk is full; then the delivery never happens. */
  add(delivery: Delivery): void {
    const id = randomUUID();
    this.#backlog.writeNow(() => this.#lines().append({ id, delivery }));
    if (this.#drives) this.#begin(id, delivery);
    else this.#waiting.set(id, delivery);
  }

  /**
   * Starts all deliveries, including those that earlier processes have left. Before this call, deliveries are only
   * written to disk.
   */
  drive(): void {
    if (this.#drives) return;
    this.#drives = true;
    if (existsSync(this.#path)) this.#lines();
    for (const [id, delivery] of this.#waiting) this.#begin(id, delivery);
    this.#waiting.clear();
  }

  isBusy(): boolean {
    return this.#underWay.size > 0;
  }

  /** Resolves when no delivery is under way. */
  async rest(): Promise<void> {
    while (this.isBusy()) await Promise.all(this.#underWay);
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  /** Opens the file when it is first needed, and removes ended deliveries from it. */
  #lines(): LineFile<Line> {
    if (this.#file) return this.#file;
    mkdirSync(this.#folder, { recursive: true });
    const left = leftOf(LineFile.open<Line>(this.#path).lines);
    writeWhole(this.#path, left.map((line) => `${JSON.stringify(line)}\n`).join(""));
    for (const { id, delivery } of left) this.#waiting.set(id, delivery);
    this.#file = LineFile.open<Line>(this.#path).file;
    return this.#file;
  }

  #begin(id: string, delivery: Delivery): void {
    const work = this.#inTurn(delivery).finally(() => {
      this.#backlog.write(() => this.#file?.append({ id, ended: true }));
      this.#underWay.delete(work);
    });
    this.#underWay.add(work);
  }

  #inTurn({ functionArn, payload, inTurn }: Delivery): Promise<void> {
    if (!inTurn) return this.#deliver(functionArn, payload);
    const before = this.#turns.get(functionArn) ?? Promise.resolve();
    const mine = before.then(() => this.#deliver(functionArn, payload));
    this.#turns.set(functionArn, mine);
    return mine;
  }

  /** Never rejects: if every attempt fails, the payload goes to the file of undelivered payloads. */
  async #deliver(functionArn: string, payload: string): Promise<void> {
    if (await this.#invoke(functionArn, payload)) return;
    const path = join(this.#folder, "undelivered.ndjson");
    this.#backlog.write(() => {
      mkdirSync(this.#folder, { recursive: true });
      const { file } = LineFile.open(path);
      file.append({ functionArn, payload, at: new Date(this.#now()).toISOString() });
      file.close();
    });
    process.emitWarning(`${functionArn} did not take an event: it lies in ${path}`);
  }
}

function leftOf(lines: Line[]): Extract<Line, { delivery: Delivery }>[] {
  const ended = new Set(lines.flatMap((line) => ("ended" in line ? [line.id] : [])));
  return lines.flatMap((line) => ("delivery" in line && !ended.has(line.id) ? [line] : []));
}
