import { MalformedAnswer } from "./failures.ts";
import { Answer, parseAnswer } from "./messages.ts";

/** The harness sends at most 200,000 bytes inline, or 64 KB of logs with six characters per escape. */
const maxLineCharacters = 1 << 20;
/** Limit of one attach, enough for thousands of needs. The SDK keeps all output in memory. */
const maxCharacters = 32 << 20;

/**
 * Returns a function that takes chunks of stdout and passes each answer of the harness to `take`. Answers are lines
 * that start with the nonce; other lines are ignored. Throws `MalformedAnswer` for invalid answers and for too much
 * output.
 */
export function lineReader(nonce: string, take: (answer: Answer) => void): (chunk: string) => void {
  const mark = `${nonce} `;
  let [rest, received] = ["", 0];
  return (chunk) => {
    received += chunk.length;
    if (received > maxCharacters) throw new MalformedAnswer(`it says more than ${maxCharacters >> 20} MB`);
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) if (line.startsWith(mark)) take(parseAnswer(Answer, line.slice(mark.length)));
    if (rest.length <= maxLineCharacters) return;
    if (rest.startsWith(mark)) throw new MalformedAnswer("a line has no end");
    rest = rest.slice(0, mark.length); // enough to recognise that this line is not an answer
  };
}
