import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  findCycle,
  mutualFolders,
  packageFolder,
  readText,
  root,
  type SourceFile,
  sharedFunctionNames,
  sourceFiles,
} from "./support/imports.ts";

/** The packages that each package may import. No two packages may import each other. */
const arrows: Record<string, string[]> = {
  workflow: [],
  python: [],
  client: [],
  templates: [],
  mcp: ["client", "engine", "templates", "workflow", "workflow/defined"],
  verify: [],
  "serve-local": [],
  "aws-local": ["serve-local"],
  "e2b-local": ["serve-local"],
  console: ["client", "templates", "verify/page", "workflow/json-text", "workflow/schema"],
  compiler: ["workflow", "python"],
  engine: ["workflow", "workflow/shell-word"],
  service: ["engine", "compiler", "workflow", "workflow/defined"],
  sandbox: ["engine", "workflow", "workflow/shell-word"],
  agents: ["engine", "python", "workflow"],
  aws: ["engine", "service", "workflow", "workflow/defined"],
  functions: [
    "engine",
    "service",
    "service/adapters",
    "service/run-hooks",
    "service/outgoing",
    "compiler",
    "compiler/sent",
    "sandbox",
    "agents",
    "aws",
    "aws/ports",
    "aws/parameters",
    "mcp",
    "mcp/exact-client",
    "workflow",
  ],
  local: [
    "serve-local",
    "aws-local",
    "aws-local/dynamodb",
    "aws-local/events",
    "aws-local/http-api",
    "aws-local/lambda",
    "aws-local/s3",
    "aws-local/schedules",
    "aws-local/ses",
    "aws-local/states",
    "e2b-local",
    "console/serving",
    "functions",
    "functions/api",
    "engine",
    "service",
    "aws",
    "sandbox",
    "sandbox/files",
    "workflow",
  ],
  cli: [
    "client",
    "mcp/exact-client",
    "mcp/stdio",
    "verify",
    "verify/describe",
    "console/build",
    "aws",
    "local",
    "service",
    "service/calls",
    "compiler",
    "engine",
    "workflow",
    "workflow/defined",
    "workflow/shell-word",
    "workflow/tsconfig.program.json",
    "templates",
    "sandbox",
    "agents",
    "python",
  ],
  examples: ["cli", "console/build", "local", "service", "compiler", "engine", "workflow"],
  bench: ["client", "cli", "local", "compiler", "engine", "workflow"],
  stacks: [
    "aws/page",
    "aws/table",
    "console/build",
    "console/serving",
    "agents",
    "agents/carried",
    "mcp/carried",
    "python/carried",
    "sandbox/carried",
  ],
};

const isSst = (specifier: string) => /^sst(\/|$)/.test(specifier);

/** Modules that only some packages may import. */
const guarded: { module: RegExp; only: string[]; why: string }[] = [
  { module: /^(aws-cdk-lib|sst|constructs|cdk-nag)(\/|$)/, only: ["stacks"], why: "only stacks deploys NOVA" },
  { module: /^@aws-sdk\//, only: ["aws", "aws-local", "local"], why: "all other packages reach AWS through ports" },
  { module: /^(e2b|@e2b\/)/, only: ["sandbox"], why: "only sandbox uses the SDK of E2B" },
  { module: /^@nova\/functions/, only: ["local"], why: "only the local cloud runs the functions in its own process" },
  { module: /^smtp-server$/, only: ["local"], why: "only the local cloud receives mails over SMTP" },
  { module: /^openai(\/|$)/, only: ["agents"], why: "only agents uses the SDK of OpenAI" },
  { module: /^@lezer\/(?!highlight$)/, only: ["python"], why: "only python parses Python" },
  { module: /^@astral-sh\/ruff/, only: ["python"], why: "only python loads ruff, when it first needs ruff" },
];

/**
 * Files that may open connections, each with the targets of its connections. All other files use an `OutgoingFetch`,
 * which checks the address of a host that a user has named.
 */
const callers: Record<string, string> = {
  "packages/agents/src/model/provider-answer.ts": "the model's API, which the operator names",
  "functions/api/health.ts": "E2B's and the model's API, which the operator names",
  "packages/client/src/": "the server that its user names",
  "packages/console/src/": "the server that it came from, addresses that it signs, and the issuer that it trusts",
  "packages/cli/src/": "the server that its user names, and addresses that it signs",
  "packages/service/src/outgoing/": "what users name, looked at before and while it is called",
  "packages/local/src/": "itself",
  "packages/e2b-local/src/": "the sandboxes that it started",
  "bench/": "the local cloud that it measures, and the rivals beside it",
};

/**
 * Matches `fetch(...)` and the functions of Node's own modules that open connections, but not the checked
 * `outgoing.fetch(...)`.
 */
const calling =
  /(?<![.\w])fetch\(|globalThis\.fetch|import (?!type)(?:\* as \w+|\w+|\{[^}]*\b(?:request|get|connect|createConnection|Socket)\b[^}]*\}) from "(?:node:)?(?:https?|http2|net|tls)"|from "undici"/;

const files = sourceFiles("bench", "packages", "functions", "stacks", "sst.config.ts");

function packageOf({ path }: SourceFile): string {
  return packageFolder(path).replace("packages/", "");
}

/**
 * Lists the imports of NOVA's packages in a file, also those of the file's own package: `aws/ports` for
 * `@nova/aws/ports`.
 */
function facesIn({ specifiers }: SourceFile): string[] {
  return specifiers.filter((name) => name.startsWith("@nova/")).map((name) => name.slice("@nova/".length));
}

interface Manifest {
  exports?: string | Record<string, string>;
  scripts?: Record<string, string>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
}

/**
 * Lists the commands in the package.json of a package. Leaves out the option `--root ../..` of the command `test`,
 * because each package may run those tests in the common test folder that belong to it.
 */
function commandsOf(folder: string): string[] {
  const { test, ...others } = manifestOf(folder).scripts ?? {};
  return [...Object.values(others), test?.replace("--root ../.. ", "") ?? ""];
}

/** Lists the exports of a package in the form in which `facesIn` returns imports. */
function facesOf(name: string): string[] {
  const { exports = {} } = manifestOf(name === "functions" ? name : `packages/${name}`);
  return typeof exports === "string" ? [name] : Object.keys(exports).map((key) => join(name, key));
}

/**
 * Lists the paths in a file that point into another package or above all packages. Allows such paths in stacks, because
 * they deploy all packages, and in the bench, because it runs the commands of users.
 */
function placesBehindFaces(file: SourceFile): string[] {
  const own = packageFolder(file.path);
  const isBehind = (place: string) => {
    if (place === own || place.startsWith(`${own}/`)) return false;
    if (own === "bench") return !/^packages\/(cli\/bin|templates\/hello)/.test(place) && file.files.includes(place);
    if (own === "stacks") return /^(packages\/[^/]+|functions)\/./.test(place);
    return place === "" || place.startsWith("..") || /^(packages|functions|stacks)(\/|$)/.test(place);
  };
  return [...file.files, ...file.places].filter(isBehind);
}

/** Matches a path that is built from the file of another package. */
const beyondFace =
  /(?:new URL\(\s*[^()]*,\s*|dirname\(\s*(?:fileURLToPath\(\s*)?)import\.meta\.resolve\(\s*["'`]@nova\//;

describe("the project", () => {
  it("has no import cycle", () => {
    expect(findCycle(files)).toBeUndefined();
  });

  it.each(Object.entries(arrows))("lets the package %s import only the packages %j", (name, allowed) => {
    const used = files
      .filter((file) => packageOf(file) === name)
      .flatMap((file) => facesIn(file).map((face) => ({ path: file.path, face })));
    expect(used.filter(({ face }) => !allowed.includes(face))).toEqual([]);
  });

  it.each(Object.entries(arrows))("uses in the package %s every import that its list allows", (name, allowed) => {
    const used = new Set(files.filter((file) => packageOf(file) === name).flatMap(facesIn));
    expect(allowed.filter((face) => !used.has(face))).toEqual([]);
  });

  it("lists for every package which packages it may import", () => {
    const names = [...new Set(files.map(packageOf))].sort();
    expect(Object.keys(arrows).sort()).toEqual(names);
  });

  it("has no two folders of a package that import each other", () => {
    expect(mutualFolders(files)).toEqual([]);
  });

  it("imports only paths that the package.json of a package exports", () => {
    const used = [...new Set(files.flatMap(facesIn))];
    expect(used.filter((face) => !facesOf(face.split("/")[0] as string).includes(face))).toEqual([]);
  });

  it("lets no package use unexported files of another package", () => {
    const reaching = files.flatMap((file) => placesBehindFaces(file).map((place) => `${file.path} -> ${place}`));
    const beyond = files.filter(({ text }) => beyondFace.test(text)).map(({ path }) => path);
    const scripts = Object.keys(arrows)
      .filter((name) => name !== "stacks" && name !== "bench")
      .map((name) => (name === "functions" ? name : `packages/${name}`))
      .filter((folder) => commandsOf(folder).some((command) => command.includes("../")));
    expect([...reaching, ...beyond, ...scripts]).toEqual([]);
  });

  it.each([
    ["a relative import", 'import { a } from "../../../examples/a.ts";'],
    ["a URL", 'const a = new URL("../../../examples/hello", import.meta.url);'],
    ["a URL of the whole project", 'const a = new URL("../../../..", import.meta.url);'],
    ["a joined path", 'const a = join(import.meta.dirname, "..", "..", "..", "examples", "hello");'],
    ["a path in a template literal", `const a = \`\${import.meta.dirname}/../../../examples\`;`],
    ["a concatenated path", 'const a = import.meta.dirname + "/../../../examples";'],
    ["a path from the root of the project", 'const a = "packages/examples/hello/workflow.json";'],
  ])("has a check that detects %s as an access that bypasses the exports of a package", (_, text) => {
    expect(placesBehindFaces(readText("packages/cli/src/commands/init.ts", text))).not.toEqual([]);
  });

  it.each([
    'new URL("../python", import.meta.resolve("@nova/sandbox"))',
    'dirname(fileURLToPath(import.meta.resolve("@nova/sandbox")))',
  ])("has a check that detects %s as an access that bypasses the exports of a package", (text) => {
    expect(text).toMatch(beyondFace);
  });

  it.each(guarded)("allows $module only in $only: $why", ({ module, only }) => {
    const offenders = files
      .filter((file) => !only.includes(packageOf(file)) && file.specifiers.some((specifier) => module.test(specifier)))
      .map(({ path }) => path);
    expect(offenders).toEqual([]);
  });

  it("names SST in one file only, so that SST can be replaced by replacing that file", () => {
    const places = files.filter(({ specifiers, text }) => specifiers.some(isSst) || /["'`]sst["'`]/.test(text));
    expect(places.map(({ path }) => path)).toEqual(["stacks/sst.ts"]);
  });

  it("opens connections only in the listed files, whose targets are trusted", () => {
    const places = Object.keys(callers);
    const offenders = files
      .filter(({ path, text }) => calling.test(text) && !places.some((place) => path.startsWith(place)))
      .map(({ path }) => path);
    expect(offenders).toEqual([]);
  });

  it("lets the command line print only through terminal.ts, because texts from outside must not control a terminal", () => {
    const offenders = files
      .filter(({ path }) => path.startsWith("packages/cli/") && path !== "packages/cli/src/output/terminal.ts")
      .filter(({ text }) => /\bconsole\.|\bstyleText\b|std(?:out|err)\.write\((?!""|`\$\{toTerminal\()/.test(text))
      .map(({ path }) => path);
    expect(offenders).toEqual([]);
  });

  it("compares the types of nodes only in code that runs nodes, not in the rest of the engine", () => {
    const running = /^packages\/engine\/src\/(kinds|attempt|sandboxes)\//;
    const asking = /\bnode\??\.(?:type|executor\.kind)\b\s*[!=]== "|switch \((?:\w+\.)*node\.type\)/;
    const offenders = files
      .filter(({ path }) => path.startsWith("packages/engine/src/") && !running.test(path))
      .filter(({ text }) => asking.test(text))
      .map(({ path }) => path);
    expect(offenders).toEqual([]);
  });

  it("gives no two exported functions of a package the same name", () => {
    const shared = sharedFunctionNames(files);
    expect(shared).toEqual([]);
  });

  it("keeps every file within 500 lines and every handler within 25 lines", () => {
    const long = files.filter(({ lines }) => lines > 500).map(({ path }) => path);
    const handlers = files.filter(
      ({ path, specifiers, lines }) =>
        path.startsWith("functions/") &&
        specifiers.some((name) => /^\.\/(service-)?lambda\.ts$/.test(name)) &&
        lines > 25,
    );
    expect([...long, ...handlers.map(({ path }) => path)]).toEqual([]);
  });
});
