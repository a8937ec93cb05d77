/** Defers `make` to the first call, and keeps its result. */
export function lazyValue<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
