/**
 * The same source, at the same places, without three forms that lezer's grammar lacks: `with (a as b, c as d):` loses its
 * brackets, `case str():` the empty ones of its class, and a bare `yield` is None.
 */
export function withoutGaps(source: string): string {
  const cases = source.replace(/^[ \t]*case\b.*$/gm, (line) =>
    line.replace(/(?<=\w)\(\s*\)/g, (brackets) => " ".repeat(brackets.length)),
  );
  return withoutBrackets(cases.replace(/^([ \t]*)yield(?=[ \t]*(#.*)?$)/gm, "$1None "));
}

function withoutBrackets(source: string): string {
  let text = source;
  for (const { index, 0: start } of source.matchAll(/\bwith[ \t]*\(/g)) {
    const open = index + start.length - 1;
    const close = closingOf(text, open);
    if (close === undefined || !/^\s*:/.test(text.slice(close + 1))) continue;
    const inside = text.slice(open + 1, close);
    if (!/\bas\b/.test(inside)) continue;
    const flat = inside.replace(/#.*$/gm, blanks).replace(/[\r\n]/g, " ");
    const clean = flat.replace(/,(\s*)$/, " $1");
    text = `${text.slice(0, open)} ${clean} ${text.slice(close + 1)}`;
  }
  return text;
}

function blanks(text: string): string {
  return " ".repeat(text.length);
}

function closingOf(text: string, open: number): number | undefined {
  let depth = 0;
  for (const { index, 0: token } of text
    .slice(open)
    .matchAll(/[()[\]{}]|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#.*/g)) {
    if (/^[([{]$/.test(token)) depth++;
    if (/^[)\]}]$/.test(token) && --depth === 0) return open + index;
  }
  return undefined;
}
