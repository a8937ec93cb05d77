import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readFromShelf } from "../shelf.ts";
import { type Docstring, DocstringIndex, firstSentence, Library } from "./library.ts";

/**
 * Documentation of what a sandbox template has installed. A folder may hold indexes made when templates were built
 * (`<template>.json`); a template without one has the template packages in the versions that were shipped.
 */
export class TemplateDocumentation {
  readonly #folder: string | undefined;
  readonly #read = new Map<string, Library[]>();

  constructor(folder?: string) {
    this.#folder = folder;
  }

  search(library: string, query: string, template = ""): Documentation {
    const libraries = this.#librariesOf(template);
    const asked = libraries.find((one) => one.isCalled(library));
    if (!asked) return unknownLibrary(library, libraries);
    const docstrings = asked.search(query);
    return docstrings.length > 0 ? answerWith(asked, docstrings) : nothingFound(asked, query);
  }

  #librariesOf(template: string): Library[] {
    const file = this.#fileOf(template);
    const known = this.#read.get(file);
    if (known) return known;
    const text = file === "" ? readFromShelf("docstrings.json") : readFileSync(file, "utf8");
    const index = DocstringIndex.parse(JSON.parse(text));
    const libraries = Object.entries(index.libraries).map(([name, about]) => new Library(name, about));
    this.#read.set(file, libraries);
    return libraries;
  }

  /** Empty where the shipped index serves. */
  #fileOf(template: string): string {
    if (this.#folder === undefined || !/^[\w-]+$/.test(template)) return "";
    const file = join(this.#folder, `${template}.json`);
    return existsSync(file) ? file : "";
  }
}

/** An answer goes into a prompt, and is paid for with every later call of the same attempt. */
const maxCharacters = 1200;
const maxNames = 8;

/** What a search found: `text` for the model, `found` (names) for the record. */
interface Documentation {
  text: string;
  found: string[];
}

/** The best in full, others in a line, as many as fit into 1,200 characters. */
function answerWith(library: Library, docstrings: readonly Docstring[]): Documentation {
  let text = `${library.name} ${library.version}`;
  const found: string[] = [];
  for (const docstring of docstrings.slice(0, maxNames)) {
    const full = `\n\n${headOf(docstring)}\n${docstring.text}`.trimEnd();
    const line = `\n\n${headOf(docstring)}\n${firstSentence(docstring.text)}`.trimEnd();
    const fitting = (found.length < 2 ? [full, line] : [line]).find(
      (form) => text.length + form.length <= maxCharacters,
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

function nothingFound(library: Library, query: string): Documentation {
  const text = `${library.name} ${library.version} has nothing about "${brief(query)}" - ask with other words, or for the name of a function or class.`;
  return { text, found: [] };
}

function unknownLibrary(name: string, libraries: readonly Library[]): Documentation {
  const known = libraries.map((library) => library.name).join(", ");
  return { text: `There is no documentation of "${brief(name)}" here - there is some of: ${known}.`, found: [] };
}

function brief(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
