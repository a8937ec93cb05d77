import { MalformedAnswer } from "./failures.ts";
import { Answer, parseAnswer } from "./messages.ts";

/** The harness sends longer outcomes as a file: 200,000 bytes, or 64 KB of logs, each character as an escape of six. */
const maxLineCharacters = 1 << 20;
/** Of one attach: thousands of needs. The SDK keeps all of it. */
const maxCharacters = 32 << 20;

/**
 * Chunks of stdout end anywhere; only lines that start with the nonce are the harness's, others are noise. Throws
 * `MalformedAnswer` for lines of the harness that are none, and for more than any harness says.
 */
export function lineReader(nonce: string, take: (answer: Answer) => void): (chunk: string) => void {
  const mark = `${nonce} `;
  let [rest, heard] = ["", 0];
  return (chunk) => {
    heard += chunk.length;
    if (heard > maxCharacters) throw new MalformedAnswer(`it says more than ${maxCharacters >> 20} MB`);
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) if (line.startsWith(mark)) take(parseAnswer(Answer, line.slice(mark.length)));
    if (rest.length <= maxLineCharacters) return;
    if (rest.startsWith(mark)) throw new MalformedAnswer("a line has no end");
    rest = rest.slice(0, mark.length); // the beginning of noise tells that the rest of the line is noise
  };
}
