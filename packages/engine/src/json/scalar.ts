/** Whether a number, `true`, `false` or `null` is all that stands between two places of a JSON text. */
export function isScalar(chunk: Buffer, from: number, end: number): boolean {
  return isNumber(chunk, from, end) || isWord(chunk, from, end);
}

function isNumber(chunk: Buffer, from: number, end: number): boolean {
  let at = chunk[from] === 0x2d ? from + 1 : from;
  const whole = digitsFrom(chunk, at, end);
  if (whole === at || (chunk[at] === 0x30 && whole > at + 1)) return false;
  at = whole;
  if (at < end && chunk[at] === 0x2e) {
    const fraction = digitsFrom(chunk, at + 1, end);
    if (fraction === at + 1) return false;
    at = fraction;
  }
  if (at < end && ((chunk[at] as number) | 0x20) === 0x65) {
    const sign = chunk[at + 1] === 0x2b || chunk[at + 1] === 0x2d ? 1 : 0;
    const exponent = digitsFrom(chunk, at + 1 + sign, end);
    if (exponent === at + 1 + sign) return false;
    at = exponent;
  }
  return at === end;
}

function digitsFrom(chunk: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && (chunk[at] as number) >= 0x30 && (chunk[at] as number) <= 0x39) at++;
  return at;
}

const words = new Set(["true", "false", "null"]);

function isWord(chunk: Buffer, from: number, end: number): boolean {
  return end - from <= 5 && words.has(chunk.toString("latin1", from, end));
}
