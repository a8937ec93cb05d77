/** An exception as Python's traceback tells it. */
export interface Exception {
  /** With its module, as far as it is known: `requests.exceptions.ConnectionError`, `ValueError`. */
  type: string;
  text: string;
  /** Files of the frames, outermost first. */
  files: string[];
  /** The line that raised it, in the node's own code or another's. */
  line: string;
  /** How it came after the one before: raised `from` it, or while that was handled. */
  after: "cause" | "context" | null;
}

const borders: Record<string, "cause" | "context"> = {
  "The above exception was the direct cause of the following exception:": "cause",
  "During handling of the above exception, another exception occurred:": "context",
};

/**
 * The exceptions of a failure, the last one first. `message` is the harness's own line about that one and more to be
 * trusted than the traceback, whose texts may hold anything.
 */
export function exceptionsOf({ message, traceback }: { message: string; traceback: string }): Exception[] {
  const parts: { lines: string[]; after: Exception["after"] }[] = [{ lines: [], after: null }];
  for (const line of traceback.split("\n")) {
    const after = borders[line];
    if (after) parts.push({ lines: [], after });
    else parts.at(-1)?.lines.push(line);
  }
  const exceptions = parts.map(({ lines, after }) => ({ ...readException(lines), after })).reverse();
  const [last] = exceptions;
  if (last?.type) return [{ ...last, ...named(message, last.type) }, ...exceptions.slice(1)];
  // There is no exception: it is what the code said itself, or the harness about it.
  return [{ type: "", text: message, files: [], line: "", after: null }];
}

function readException(lines: readonly string[]): Omit<Exception, "after"> {
  const files: string[] = [];
  let line = "";
  let end = 0;
  for (const [index, text] of lines.entries()) {
    const [, file] = /^ {2}File "(.*?)", line \d+/.exec(text) ?? [];
    if (file === undefined) continue;
    files.push(file);
    line = (lines[index + 1] ?? "").trim();
    end = index;
  }
  const said = lines.slice(end).findIndex((text) => /^[A-Za-z_][\w.]*(:|$)/.test(text));
  const told = said < 0 ? "" : lines.slice(end + said).join("\n");
  const [, type = "", text = ""] = /^([\w.]+)(?:: ?([\s\S]*))?$/.exec(told.trimEnd()) ?? [];
  return { type, text: text.trim(), files, line };
}

/** The message's own type where the traceback says another: its texts may look like one. */
function named(message: string, type: string): Pick<Exception, "type" | "text"> {
  const [, name = "", text = ""] = /^(\w+)(?:: ([\s\S]*))?$/.exec(message) ?? [];
  if (name === "") return { type: "", text: message };
  return { type: type === name || type.endsWith(`.${name}`) ? type : name, text };
}
