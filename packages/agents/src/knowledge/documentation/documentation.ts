import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readFromShelf } from "../shelf.ts";
import { answerWith, type Documentation, nothingFound, unknownLibrary } from "./answer.ts";
import { DocstringIndex } from "./docstring-index.ts";
import { Library } from "./library.ts";

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
