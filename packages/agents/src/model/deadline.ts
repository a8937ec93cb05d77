/** A signal that fires with the caller's, or after so long; it holds no timer once it is disposed of. */
export interface Deadline extends Disposable {
  signal: AbortSignal;
}

export function startDeadline(caller: AbortSignal, milliseconds: number): Deadline {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), milliseconds);
  return { signal: AbortSignal.any([caller, late.signal]), [Symbol.dispose]: () => clearTimeout(timer) };
}
