import { type McpServer, ResourceNotFoundError, ResourceTemplate } from "@modelcontextprotocol/server";
import { renderJson } from "@nova/engine";
import { templates } from "@nova/templates";
import { readPages } from "./pages.ts";
import { type Caller, exactText, onlyReads } from "./tool.ts";
import { listDifferences } from "./tools/again.ts";
import { tools } from "./tools/all.ts";
import { draftText, readPublished } from "./tools/definitions.ts";
import { outputsText } from "./verdict.ts";

const markdown = "text/markdown";
const json = "application/json";

/** The pages that agents need most, which lists show with these names. */
const shown: Record<string, string> = {
  definition: "Every field of workflow.json",
  python: "What the Python of a node may do",
  findings: "Each finding of a definition with its cure",
  "python-findings": "Each finding of Python code with its cure",
};

/** Registers the resources of the server: documentation, examples, and texts that are too large for results. */
export function registerResources(server: McpServer, caller: Caller): void {
  for (const [name, description] of Object.entries(shown))
    server.registerResource(name, `nova://docs/${name}`, { description, mimeType: markdown }, ({ href }) =>
      contentsOf(href, markdown, pageText(name)),
    );
  for (const { name, title, description, files } of Object.values(templates))
    server.registerResource(name, `nova://examples/${name}`, { title, description, mimeType: json }, ({ href }) =>
      contentsOf(href, json, JSON.stringify(files, null, 1)),
    );
  for (const { name, uri, mimeType, read } of templated)
    server.registerResource(
      name,
      new ResourceTemplate(uri, { list: undefined }),
      { mimeType },
      async (url, variables) => {
        const one = (key: string) => decodeURIComponent([variables[key]].flat()[0] ?? "");
        return contentsOf(url.href, mimeType, await read(caller, one, url.searchParams));
      },
    );
}

/** Parses JSON. Returns null for a text that is not JSON, because no call takes null as its arguments. */
function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function contentsOf(uri: string, mimeType: string, text: string) {
  return { contents: [{ uri, mimeType, text }] };
}

function pageText(name: string): string {
  const page = readPages().get(name);
  if (page) return page.text;
  throw new ResourceNotFoundError(
    `nova://docs/${name}`,
    `there is no page "${name}" - use one of ${[...readPages().keys()].join(", ")}`,
  );
}

interface Templated {
  name: string;
  uri: string;
  mimeType: string;
  read(caller: Caller, one: (key: string) => string, query: URLSearchParams): Promise<string>;
}

const templated: Templated[] = [
  {
    name: "page",
    uri: "nova://docs/{page}",
    mimeType: markdown,
    read: async (_, one) => pageText(one("page")),
  },
  {
    name: "workflow",
    uri: "nova://workflows/{id}/{version}",
    mimeType: json,
    async read({ nova }, one) {
      const { text, files } = await readPublished(nova, one("id"), Number(one("version")));
      return `{"definition":${text},"files":${JSON.stringify(files)}}`;
    },
  },
  {
    name: "draft",
    uri: "nova://drafts/{id}",
    mimeType: json,
    read: async ({ nova }, one) => draftText(await nova.sessions.get(one("id"))),
  },
  {
    name: "outputs of a draft",
    uri: "nova://drafts/{id}/outputs",
    mimeType: json,
    read: async ({ nova }, one) => outputsText((await nova.sessions.outputs(one("id"))).outputs),
  },
  {
    name: "context of a run",
    uri: "nova://executions/{id}/context",
    mimeType: json,
    read: async ({ nova }, one) => exactText((await nova.executions.get(one("id"))).context) ?? "{}",
  },
  {
    name: "differences of two runs",
    uri: "nova://executions/{id}/differences/{other}",
    mimeType: json,
    read: async ({ nova }, one) => JSON.stringify(await listDifferences(nova, one("id"), one("other"))),
  },
  {
    name: "result of a call that only reads",
    uri: "nova://results/{tool}{?asked}",
    mimeType: json,
    async read(caller, one, query) {
      const found = tools.find(({ name }) => name === one("tool"));
      const asked = found?.input.safeParse(parseOrNull(query.get("asked") ?? "{}"));
      if (!found || !asked?.success || !onlyReads(found, asked.data))
        throw new ResourceNotFoundError(
          `nova://results/${one("tool")}`,
          "no tool that only reads takes these arguments",
        );
      return JSON.stringify((await found.call(asked.data, caller)).result);
    },
  },
  {
    name: "entry of a run",
    uri: "nova://executions/{id}/entries/{place}",
    mimeType: json,
    async read({ nova }, one) {
      const [seq = "", ...scope] = one("place").split("/");
      return renderJson(await nova.executions.link(one("id"), Number(seq), { scope: scope.join("/") }));
    },
  },
];
