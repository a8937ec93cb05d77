/** A parsed JSON value. A number that is not a whole number of 1 to 15 digits is `NaN`. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Throws `SyntaxError` unless the condition holds. */
export function ensure(condition: unknown, message: string): asserts condition {
  if (!condition) throw new SyntaxError(message);
}

/** Parses JSON as strictly as docs/proof.md says. Throws `SyntaxError`. */
export function parseJson(text: string): Json {
  demandStrict(text);
  const reviver = (_: string, value: Json, { source = "" }: { source?: string } = {}) =>
    typeof value !== "number" || /^(?:0|[1-9]\d{0,14})$/.test(source) ? value : Number.NaN;
  try {
    return JSON.parse(text, reviver);
  } catch (cause) {
    throw new SyntaxError(text.trim() === "" ? "it is empty" : "it is not JSON, or it was cut off", { cause });
  }
}

/** Checks the rules that `JSON.parse` does not check. The caller need not know whether the text is JSON. */
function demandStrict(text: string): void {
  /** The member names so far of each object or list around the current position; a list has no names. */
  const around: Set<string>[] = [];
  const [marks, colon] = [/["{}[\]]/g, /[ \t\n\r]*:/y];
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    if (mark[0] === "{" || mark[0] === "[") around.push(new Set());
    if (mark[0] === "}" || mark[0] === "]") around.pop();
    ensure(around.length <= 64, "it has more than 64 levels");
    if (mark[0] !== '"') continue;
    marks.lastIndex = findEnd(text, mark.index);
    colon.lastIndex = marks.lastIndex;
    const value: string = JSON.parse(text.slice(mark.index, marks.lastIndex));
    ensure(value.isWellFormed(), "it has half of a surrogate pair");
    if (!colon.test(text)) continue;
    // Copies of an object in JavaScript lose a member with the name `__proto__`, so this name is refused.
    const isOdd = value === "__proto__" || around.at(-1)?.has(value);
    ensure(!isOdd, `the name ${JSON.stringify(value.slice(0, 50))} is not valid, or there twice`);
    around.at(-1)?.add(value);
  }
}

/** Returns the position after the JSON string that starts at `start`. */
function findEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end > 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
  throw new SyntaxError("it was cut off inside a text");
}
