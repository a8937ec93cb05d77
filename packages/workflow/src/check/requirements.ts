import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { shown } from "../findings/shown.ts";
import type { Document } from "../parse/document.ts";
import type { WorkflowSource } from "../parse/source.ts";

/** A name with extras and versions, or at an https address, and a marker behind it (PEP 508). */
const name = "[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*";
const extras = `(?: *\\[ *(?:${name}(?: *, *${name})*)? *\\])?`;
const version = " *(?:===|[~=!<>]=|[<>]) *v?[0-9][A-Za-z0-9.*+!_-]*";
const versions = `${version}(?: *,${version})*`;
const marker = `(?:;[\\w .'"()<>=!~,+*-]+)?`;
const packaged = new RegExp(`^ *${name}${extras}(?:${versions}| *\\(${versions} *\\))? *${marker}$`);
const addressed = new RegExp(`^ *${name}${extras} *@ *https://[!-~]+(?: +${marker})?$`);

/** pip takes such a name for a file of the folder that it runs in. */
const archive = /\.(?:whl|zip|tgz|tar|tbz|txz|tlz|tar\.(?:gz|bz2|xz|lz|lzma)) *(?:\[|;|$)/i;
const wheel = /^\/\P{Cc}+\.whl$/u;

const wayOut = "write a package such as pandas==2.2, with extras and a marker where needed, or name @ https://...";

/** Every line asks for one package and is nothing else to pip: no option, no list of lines, no file of a server. */
export function* checkRequirements({ body, pathOf }: Document, source: WorkflowSource): Iterable<Finding> {
  if (!Array.isArray(body.requirements)) return;
  for (const [index, line] of body.requirements.entries()) {
    if (typeof line !== "string" || line.trim() === "" || asksForPackage(line)) continue;
    const isWheel = wheel.test(line);
    if (isWheel && !source.isSent) continue;
    const problem = isWheel ? "is a file, which a definition that was sent cannot name" : "is no pip requirement";
    yield finding("NOVA114", at(pathOf("requirements"), index), `requirements: ${shown(line)} ${problem} - ${wayOut}`);
  }
}

function asksForPackage(line: string): boolean {
  return addressed.test(line) || (packaged.test(line) && !archive.test(line));
}
