/** Lines of a Python traceback that name a file. */
const placePattern = /^ {2}File "([^"\n]*)", line (\d+)/gm;

/**
 * Finds the number of the last line of a node's own code in a traceback; null if there is none. The path of the node's
 * file is relative (`nodes/total.py`), and those of `lib` and of packages are absolute.
 */
export function findFailedLine(traceback: string | null): number | null {
  const places = Array.from((traceback ?? "").matchAll(placePattern));
  const own = places.findLast(([, file = ""]) => !/^[/<]/.test(file));
  return own ? Number(own[2]) : null;
}
