import type { Docstring } from "./docstring-index.ts";
import { firstSentence, type Library } from "./library.ts";

/** An answer goes into a prompt, and is paid for with every later call of the same attempt. */
const mostCharacters = 1200;
const mostNames = 8;

/** What a search found: `text` for the model, `found` (names) for the record. */
export interface Documentation {
  text: string;
  found: string[];
}

/** The best in full, others in a line, as many as fit into 1,200 characters. */
export function answerWith(library: Library, docstrings: readonly Docstring[]): Documentation {
  let text = `${library.name} ${library.version}`;
  const found: string[] = [];
  for (const docstring of docstrings.slice(0, mostNames)) {
    const full = `\n\n${headOf(docstring)}\n${docstring.text}`.trimEnd();
    const line = `\n\n${headOf(docstring)}\n${firstSentence(docstring.text)}`.trimEnd();
    const fitting = (found.length < 2 ? [full, line] : [line]).find(
      (form) => text.length + form.length <= mostCharacters,
    );
    if (fitting === undefined) continue;
    text += fitting;
    found.push(docstring.name);
  }
  return { text, found };
}

function headOf({ name, signature }: Docstring): string {
  return `${name}${signature || " (attribute or class)"}`;
}

export function nothingFound(library: Library, query: string): Documentation {
  const text = `${library.name} ${library.version} has nothing about "${brief(query)}" - ask with other words, or for the name of a function or class.`;
  return { text, found: [] };
}

export function unknownLibrary(name: string, libraries: readonly Library[]): Documentation {
  const known = libraries.map((library) => library.name).join(", ");
  return { text: `There is no documentation of "${brief(name)}" here - there is some of: ${known}.`, found: [] };
}

function brief(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
