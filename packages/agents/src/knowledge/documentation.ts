import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import MiniSearch from "minisearch";
import { z } from "zod";
import { readFromShelf } from "./shelf.ts";

/** One library's documentation, with a search index that is built at the first search. */
export class Library {
  readonly name: string;
  readonly version: string;
  readonly #aliases: readonly string[];
  readonly #docstrings: readonly Docstring[];
  readonly #sizes = new Map<string, number>();
  #index: MiniSearch<Docstring> | undefined;

  constructor(name: string, { version, also, entries }: DocstringIndex["libraries"][string]) {
    this.name = name;
    this.version = version;
    this.#aliases = [name, ...also].map((alias) => alias.toLowerCase());
    this.#docstrings = entries.map(([name, signature, text], id) => ({ id, name, signature, text }));
    for (const [member] of entries) this.#sizes.set(ownerOf(member), (this.#sizes.get(ownerOf(member)) ?? 0) + 1);
  }

  /** Returns true for any name of the library: `PIL`, `PIL.Image`, `pillow`. */
  isCalled(name: string): boolean {
    const lower = name.trim().toLowerCase();
    return this.#aliases.some((alias) => lower === alias || lower.startsWith(`${alias}.`));
  }

  search(query: string): Docstring[] {
    this.#index ??= this.#indexed();
    const own = new Set(this.#aliases.flatMap(termsOf));
    const asked = termsOf(query).filter((term) => !own.has(term) && !stopWords.has(term));
    if (asked.length === 0) return [];
    const named = query.split(/[\s()]+/).filter((word) => /[._]|[a-z][A-Z]/.test(word));
    return this.#index
      .search(asked.join(" "), { boostDocument: (id) => this.#weightOf(id as number, named) })
      .map(({ id }) => this.#docstrings[id] as Docstring);
  }

  /**
   * Weighs an entry. An entry weighs more if the query names it. It also weighs more if it belongs to a large class or
   * module, because code uses the members of large classes most often.
   */
  #weightOf(id: number, named: readonly string[]): number {
    const { name } = this.#docstrings[id] as Docstring;
    const exact = named.some((word) => name === word || name.endsWith(`.${word}`));
    return (exact ? 5 : 1) * (1 + Math.log10(this.#sizes.get(ownerOf(name)) ?? 1));
  }

  #indexed(): MiniSearch<Docstring> {
    const index = new MiniSearch<Docstring>({
      fields: ["name", "summary", "text"],
      extractField: (docstring, field) =>
        field === "summary" ? firstSentence(docstring.text) : String(docstring[field as keyof Docstring]),
      tokenize: termsOf,
      searchOptions: {
        boost: { name: 4, summary: 3 },
        prefix: (term) => term.length > 3,
        fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      },
    });
    index.addAll(this.#docstrings);
    return index;
  }
}

export function firstSentence(text: string): string {
  return /^[^\n]*?[.!](?=\s|$)/.exec(text)?.[0] ?? text.split("\n", 1)[0] ?? "";
}

function ownerOf(name: string): string {
  return name.slice(0, name.lastIndexOf("."));
}

/** The search ignores these words of a query. */
const stopWords = new Set(
  "a an and as at by can do does for from how i in into is it of on or python the to use using with".split(" "),
);

/** Splits text into lower-case words without a plural `s`; `getTexts`, `get_text` and `get.text` have equal terms. */
function termsOf(text: string): string[] {
  return text
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter(Boolean)
    .map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
}

/** The output of `docstrings.py` (format 1): public functions, classes and methods of libraries. */
export const DocstringIndex = z.object({
  format: z.literal(1),
  built: z.string(),
  python: z.string(),
  libraries: z.record(
    z.string(),
    z.object({
      version: z.string(),
      /** Other names of the library: its import name or its pip name. */
      also: z.array(z.string()),
      /** Name, signature (empty for attributes), first lines of the documentation. */
      entries: z.array(z.tuple([z.string(), z.string(), z.string()])),
    }),
  ),
});
export type DocstringIndex = z.infer<typeof DocstringIndex>;

export interface Docstring {
  id: number;
  name: string;
  signature: string;
  text: string;
}

/**
 * Documentation of a sandbox template's libraries. A folder may hold indexes of templates (`<template>.json`). For a
 * template without an index, NOVA uses the index of its own template, which this package contains.
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
    return docstrings.length > 0 ? formatResults(asked, docstrings) : nothingFound(asked, query);
  }

  #librariesOf(template: string): Library[] {
    const own = this.#folder !== undefined && /^[\w-]+$/.test(template) ? join(this.#folder, `${template}.json`) : "";
    const file = existsSync(own) ? own : "";
    const known = this.#read.get(file);
    if (known) return known;
    const text = file === "" ? readFromShelf("docstrings.json") : readFileSync(file, "utf8");
    const index = DocstringIndex.parse(JSON.parse(text));
    const libraries = Object.entries(index.libraries).map(([name, about]) => new Library(name, about));
    this.#read.set(file, libraries);
    return libraries;
  }
}

/**
 * Limits an answer, because every later model call of the same attempt sends the answer again, and pays for it again.
 */
const maxCharacters = 1200;
const maxNames = 8;

/** A search result: `text` for the model, and the names `found` for the record. */
interface Documentation {
  text: string;
  found: string[];
}

/** Shows the best results in full, and each other result in one line, as long as they fit into `maxCharacters`. */
function formatResults(library: Library, docstrings: readonly Docstring[]): Documentation {
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
  const text = `${library.name} ${library.version} has nothing about "${shorten(query)}" - ask with other words, or for the name of a function or class.`;
  return { text, found: [] };
}

function unknownLibrary(name: string, libraries: readonly Library[]): Documentation {
  const known = libraries.map((library) => library.name).join(", ");
  return { text: `There is no documentation of "${shorten(name)}" here - there is some of: ${known}.`, found: [] };
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
