import type { Notice } from "../ports/notices.ts";

/** Characters; an approval's message has 4,000 at most. */
const longestText = 20_000;

/** A mail of these lines. What others wrote steers no terminal and begins no line of a head. */
export function noticeOf(to: string[], subject: string, lines: readonly string[]): Notice {
  const text = lines.join("\n").replaceAll(/\r\n?/g, "\n").replaceAll(steering, " ").slice(0, longestText);
  return { to, subject: subject.replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, " "), text };
}

/** Control characters but tab and line feed, and what turns the direction of a line around. */
const steering = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;
