/** Matches the lines of a Python traceback that name a file. */
const placePattern = /^ {2}File "([^"\n]*)", line (\d+)/gm;

/**
 * Returns the number of the last line in a traceback that belongs to the node's own code; null if there is no such
 * line. The path of the node's file is relative (`nodes/total.py`). The paths of files in `lib` and in packages are
 * absolute.
 */
export function findFailedLine(traceback: string | null): number | null {
  const places = Array.from((traceback ?? "").matchAll(placePattern));
  const own = places.findLast(([, file = ""]) => !/^[/<]/.test(file));
  return own ? Number(own[2]) : null;
}
