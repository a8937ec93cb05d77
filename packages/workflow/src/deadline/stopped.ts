/** A check of a text took more time, memory or stack than it may have. The message completes "checking it ...". */
export class CheckStopped extends Error {
  override name = "CheckStopped";

  static after(ms: number): CheckStopped {
    return new CheckStopped(`takes more than ${ms / 1000} seconds`);
  }

  /** Undefined for every other error. `RuntimeError` is how WebAssembly ends that has no stack left. */
  static from(error: unknown): CheckStopped | undefined {
    if (error instanceof CheckStopped) return error;
    if (!(error instanceof Error)) return undefined;
    if ("code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") {
      return new CheckStopped("takes more memory than there is", { cause: error });
    }
    const isOverflow = error.name === "RuntimeError" || /call stack/i.test(error.message);
    return isOverflow ? new CheckStopped("goes too many levels deep", { cause: error }) : undefined;
  }
}
