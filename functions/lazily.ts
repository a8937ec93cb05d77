/** Makes it when it is asked for the first time: what few need, or what takes long to load. */
export function lazily<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
