import type { AwsError } from "../aws-http/aws-error.ts";
import type { Room } from "./room.ts";

/** Writes in their order. Those that the disk has no room for wait in memory until it has; nothing overtakes them. */
export class Backlog {
  readonly #room: Room;
  readonly #waiting: (() => void)[] = [];
  #isTold = false;

  constructor(room: Room) {
    this.#room = room;
  }

  /** Written now, or when there is room. */
  write(work: () => void): void {
    this.#waiting.push(work);
    const error = this.#catchUp();
    if (error) this.#waitForRoom();
  }

  /** Written when this returns. Throws where there is no room: then nothing is written. */
  writeNow(work: () => void): void {
    const error = this.#catchUp();
    if (error) throw error;
    try {
      work();
    } catch (error) {
      throw this.#room.refusal(error) ?? error;
    }
  }

  /** Why something still waits, if it does. */
  #catchUp(): AwsError | undefined {
    for (let work = this.#waiting[0]; work; work = this.#waiting[0]) {
      try {
        work();
      } catch (error) {
        const refusal = this.#room.refusal(error);
        if (refusal) return refusal;
        this.#waiting.shift();
        throw error;
      }
      this.#waiting.shift();
    }
    return undefined;
  }

  async #waitForRoom(): Promise<void> {
    if (this.#isTold) return;
    this.#isTold = true;
    await this.#room.untilThere();
    this.#isTold = false;
    if (this.#room.isThere && this.#catchUp()) this.#waitForRoom();
  }
}
