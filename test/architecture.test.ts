import { describe, expect, it } from "vitest";
import { findCycle, type SourceFile, sourceFiles } from "./support/imports.ts";

/** What each package may import of the others: arrows point one way. */
const arrows: Record<string, string[]> = {
  workflow: [],
  python: [],
  client: [],
  compiler: ["workflow", "python"],
  engine: ["workflow", "workflow/shell-word"],
  service: ["engine", "compiler", "workflow"],
  sandbox: ["engine", "workflow"],
  agents: ["engine", "python", "workflow"],
  aws: ["engine", "service", "workflow"],
  functions: [
    "engine",
    "service",
    "service/adapters",
    "service/lookout",
    "service/outgoing",
    "compiler",
    "compiler/sent",
    "sandbox",
    "agents",
    "aws",
    "aws/ports",
    "aws/parameters",
    "workflow",
  ],
  local: ["functions", "functions/api", "engine", "service", "aws", "sandbox", "workflow", "compiler"],
  cli: [
    "client",
    "aws",
    "local",
    "service",
    "service/calls",
    "compiler",
    "engine",
    "workflow",
    "workflow/shell-word",
    "functions",
    "sandbox",
    "agents",
    "python",
  ],
  examples: ["cli", "local", "service", "compiler", "engine", "workflow"],
  bench: ["cli", "local", "compiler", "engine"],
  stacks: ["aws/table", "agents"],
};

/** Modules that only some packages may know. */
const guarded: { module: RegExp; only: string[]; why: string }[] = [
  { module: /^(aws-cdk-lib|sst|constructs|cdk-nag)(\/|$)/, only: ["stacks"], why: "deployment stays at the rim" },
  { module: /^@aws-sdk\//, only: ["aws", "local"], why: "AWS is behind the engine's ports" },
  { module: /^(e2b|@e2b\/)/, only: ["sandbox"], why: "nothing else knows E2B" },
  { module: /^@nova\/functions/, only: ["local", "cli"], why: "functions are the composition root" },
  { module: /^smtp-server$/, only: ["local"], why: "emulators are the local cloud's" },
  { module: /^openai(\/|$)/, only: ["agents"], why: "models are behind the pipeline" },
  { module: /^@lezer\//, only: ["python"], why: "Python is read in one package" },
  { module: /^@astral-sh\/ruff/, only: ["python"], why: "ruff is loaded by one package, lazily" },
];

/** Who calls out, by which address; everybody else has an `OutgoingFetch`, which looks at where a user's address leads. */
const callers: Record<string, string> = {
  "packages/agents/src/model/whole-answer.ts": "the model's API, which the operator names",
  "functions/api/health/probes.ts": "E2B's and the model's API, which the operator names",
  "packages/client/src/": "the server that its user names",
  "packages/cli/src/": "the server that its user names, and addresses that it signs",
  "packages/service/src/outgoing/": "what users name, looked at before and while it is called",
  "packages/local/src/": "itself",
  "bench/": "the local cloud that it measures",
};

/** `fetch(...)`, and what connects in Node's own modules. `outgoing.fetch(...)` is the guarded one. */
const calling =
  /(?<![.\w])fetch\(|globalThis\.fetch|import (?!type)(?:\* as \w+|\w+|\{[^}]*\b(?:request|get|connect|createConnection|Socket)\b[^}]*\}) from "(?:node:)?(?:https?|http2|net|tls)"|from "undici"/;

const files = sourceFiles("bench", "packages", "functions", "stacks", "sst.config.ts");

function packageOf({ path }: SourceFile): string {
  const [first, second] = path.split("/");
  if (first === "sst.config.ts") return "stacks";
  return first === "packages" ? (second as string) : (first as string);
}

describe("the house", () => {
  it("has no import cycle", () => {
    expect(findCycle(files)).toBeUndefined();
  });

  it.each(Object.entries(arrows))("lets %s import only %j", (name, allowed) => {
    const used = files
      .filter((file) => packageOf(file) === name)
      .flatMap(({ path, specifiers }) => specifiers.map((specifier) => ({ path, specifier })))
      .filter(({ specifier }) => specifier.startsWith("@nova/"));
    const strangers = used.filter(({ specifier }) => ![name, ...allowed].includes(specifier.slice("@nova/".length)));
    expect(strangers).toEqual([]);
  });

  it("reaches into no other package but through its face", () => {
    const reaching = files.flatMap((file) =>
      file.files.filter(
        (target) => !target.startsWith(`packages/${packageOf(file)}/`) && !target.startsWith(`${packageOf(file)}/`),
      ),
    );
    expect(reaching).toEqual([]);
  });

  it.each(guarded)("keeps $module to $only: $why", ({ module, only }) => {
    const offenders = files
      .filter((file) => !only.includes(packageOf(file)) && file.specifiers.some((specifier) => module.test(specifier)))
      .map(({ path }) => path);
    expect(offenders).toEqual([]);
  });

  it("calls out by itself in few places, each to who is trusted", () => {
    const places = Object.keys(callers);
    const offenders = files
      .filter(({ path, text }) => calling.test(text) && !places.some((place) => path.startsWith(place)))
      .map(({ path }) => path);
    expect(offenders).toEqual([]);
  });

  it("prints through one file of the command line: texts of others must not steer a terminal", () => {
    const offenders = files
      .filter(({ path }) => path.startsWith("packages/cli/") && path !== "packages/cli/src/output/terminal.ts")
      .filter(({ text }) => /\bconsole\.|\bstyleText\b|std(?:out|err)\.write\((?!""|`\$\{shown\()/.test(text))
      .map(({ path }) => path);
    expect(offenders).toEqual([]);
  });

  it("keeps every file under 350 lines and every handler under 25", () => {
    const long = files.filter(({ lines }) => lines > 350).map(({ path }) => path);
    const handlers = files.filter(
      ({ path, specifiers, lines }) =>
        path.startsWith("functions/") &&
        specifiers.some((name) => /^\.\/(service-)?lambda\.ts$/.test(name)) &&
        lines > 25,
    );
    expect([...long, ...handlers.map(({ path }) => path)]).toEqual([]);
  });
});
