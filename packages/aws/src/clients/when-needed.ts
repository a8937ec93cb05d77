/** Small requests that somebody waits for. */
export const requestHandler = { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true };

/**
 * Loads an SDK at its first use, and once for whoever holds this: most processes publish no schedule, and none begins
 * with an event. The client belongs to the ports that it was made for, since a process may have others later.
 */
export function whenNeeded<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
