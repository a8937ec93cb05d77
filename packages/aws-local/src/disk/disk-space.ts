import { accessSync, constants, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AwsError } from "../aws-http/aws-error.ts";
import { type Clock, systemClock } from "../clock.ts";

/** The interval between two attempts to write to a full disk. */
const retryMs = 1_000;

/**
 * The content of the test file. A full disk counts as free again when this file can be written. The file is large,
 * because a few free bytes could be used up a moment later.
 */
const probe = Buffer.alloc(256 * 1024);

const full = new Set(["ENOSPC", "EDQUOT"]);
const readOnly = new Set(["EROFS", "EACCES", "EPERM"]);
/** Error codes of SQLite, in the field `errcode` of its errors. */
const SQLITE_READONLY = 8;
const SQLITE_FULL = 13;

/** HTTP's status for a store without space (RFC 4918). No AWS service uses it. */
const insufficientStorage = 507;

interface DiskSpaceOptions {
  clock?: Clock;
  /** Receives a sentence when the disk is full, and when it has space again. */
  warn?: (sentence: string) => void;
}

/**
 * Says whether a data folder can be written. The stores of the folder report every write error to this object. When the
 * disk is full, all stores wait here until it has space again.
 */
export class DiskSpace {
  readonly isReadOnly: boolean;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #warn: (sentence: string) => void;
  readonly #closing = new AbortController();
  #back: PromiseWithResolvers<void> | undefined;

  constructor(folder: string, { clock = systemClock, warn = () => undefined }: DiskSpaceOptions = {}) {
    this.#folder = folder;
    this.#clock = clock;
    this.#warn = warn;
    this.isReadOnly = !mayWrite(folder);
  }

  get hasSpace(): boolean {
    return !this.isReadOnly && this.#back === undefined;
  }

  /**
   * Returns the error to send to the client if `error` says that the disk is full or read-only; undefined for other
   * errors.
   */
  refusal(error: unknown): AwsError | undefined {
    if (error instanceof AwsError && error.status === insufficientStorage) return error;
    const { code = "", errcode = 0 } = (error ?? {}) as { code?: string; errcode?: number };
    if (full.has(code) || (errcode & 0xff) === SQLITE_FULL) {
      this.#wait();
      return insufficient(this.#fullSentence, error);
    }
    const isRefused = code === "EROFS" || (this.isReadOnly && readOnly.has(code));
    return isRefused || (errcode & 0xff) === SQLITE_READONLY ? insufficient(this.#readOnlySentence, error) : undefined;
  }

  /** Throws if the folder takes no writes. */
  requireSpace(): void {
    if (this.isReadOnly) throw insufficient(this.#readOnlySentence);
    if (this.#back) throw insufficient(this.#fullSentence);
  }

  /**
   * Finds out whether the disk is full before a store has to write. Ignores other errors of the disk, because the next
   * write of a store reports them.
   */
  probe(): void {
    if (!this.isReadOnly) this.refusal(this.#tried());
  }

  /** Returns whether the disk is full and stores wait for space. */
  get isWaiting(): boolean {
    return this.#back !== undefined && !this.#closing.signal.aborted;
  }

  /** Resolves when the disk has space, or when `close` is called. */
  async untilSpace(): Promise<void> {
    await this.#back?.promise;
  }

  /** Stops waiting for space. */
  close(): void {
    this.#closing.abort("closed");
    this.#back?.resolve();
  }

  async #wait(): Promise<void> {
    if (this.#back || this.#closing.signal.aborted) return;
    const back = Promise.withResolvers<void>();
    this.#back = back;
    this.#warn(this.#fullSentence);
    do await this.#clock.sleep(retryMs, this.#closing.signal);
    while (!this.#closing.signal.aborted && this.#tried());
    if (this.#closing.signal.aborted) return;
    this.#back = undefined;
    this.#warn(`there is room again on the disk of ${this.#folder}: what stopped goes on`);
    back.resolve();
  }

  /** Writes a test file and removes it. Returns the error if that fails. */
  #tried(): unknown {
    const path = join(this.#folder, "room.part");
    try {
      writeFileSync(path, probe);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      rmSync(path, { force: true });
    }
  }

  get #fullSentence(): string {
    return `the disk of ${this.#folder} is full - free some space: runs that stopped go on by themselves, and what was refused can be sent again`;
  }

  get #readOnlySentence(): string {
    return `${this.#folder} is read-only: what is in it can be read and verified - to run or change something make it writable, or choose another folder (NOVA_DATA_DIR)`;
  }
}

function insufficient(sentence: string, cause?: unknown): AwsError {
  return new AwsError("InsufficientStorage", sentence, insufficientStorage, { cause });
}

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    return !readOnly.has((error as NodeJS.ErrnoException).code ?? "");
  }
}

/**
 * Performs writes in their order. While the disk is full, writes wait in memory. A later write waits until all earlier
 * writes are done.
 */
export class Backlog {
  readonly #disk: DiskSpace;
  readonly #waiting: (() => void)[] = [];
  #isTold = false;

  constructor(disk: DiskSpace) {
    this.#disk = disk;
  }

  /** Performs the write now, or later when the disk has space. */
  write(work: () => void): void {
    this.#waiting.push(work);
    const error = this.#catchUp();
    if (error) this.#waitForSpace();
  }

  /** Performs the write before it returns. If the disk is full, it throws and writes nothing. */
  writeNow(work: () => void): void {
    const error = this.#catchUp();
    if (error) throw error;
    try {
      work();
    } catch (error) {
      throw this.#disk.refusal(error) ?? error;
    }
  }

  /** Performs the waiting writes. Returns an error if the disk is still full. */
  #catchUp(): AwsError | undefined {
    for (let work = this.#waiting[0]; work; work = this.#waiting[0]) {
      try {
        work();
      } catch (error) {
        const refusal = this.#disk.refusal(error);
        if (refusal) return refusal;
        this.#waiting.shift();
        throw error;
      }
      this.#waiting.shift();
    }
    return undefined;
  }

  async #waitForSpace(): Promise<void> {
    if (this.#isTold) return;
    this.#isTold = true;
    await this.#disk.untilSpace();
    this.#isTold = false;
    if (this.#disk.hasSpace && this.#catchUp()) this.#waitForSpace();
  }
}
