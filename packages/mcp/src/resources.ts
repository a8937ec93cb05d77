import { type McpServer, ResourceNotFoundError, ResourceTemplate } from "@modelcontextprotocol/server";
import type { NovaClient } from "@nova/client";
import { renderJson } from "@nova/engine";
import { templates } from "@nova/templates";
import { readPages } from "./pages.ts";
import { exactText } from "./tool.ts";
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

/** Registers documentation, examples, and texts that are too large for results. */
export function registerResources(server: McpServer, nova: NovaClient): void {
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
        return contentsOf(url.href, mimeType, await read(nova, one, url.searchParams));
      },
    );
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
  read(nova: NovaClient, one: (key: string) => string, query: URLSearchParams): Promise<string>;
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
    async read(nova, one) {
      const { source } = await readPublished(nova, one("id"), Number(one("version")));
      return `{"definition":${source.text.trim()},"files":${JSON.stringify(source.files)}}`;
    },
  },
  {
    name: "draft",
    uri: "nova://drafts/{id}",
    mimeType: json,
    read: async (nova, one) => draftText(await nova.sessions.get(one("id"))),
  },
  {
    name: "outputs of a draft",
    uri: "nova://drafts/{id}/outputs",
    mimeType: json,
    read: async (nova, one) => outputsText((await nova.sessions.outputs(one("id"))).outputs),
  },
  {
    name: "context of a run",
    uri: "nova://executions/{id}/context",
    mimeType: json,
    read: async (nova, one) => exactText((await nova.executions.get(one("id"))).context) ?? "{}",
  },
  {
    name: "entry of a run",
    uri: "nova://executions/{id}/entries/{seq}{?scope}",
    mimeType: json,
    async read(nova, one, query) {
      const scope = query.get("scope") ?? "";
      return renderJson(await nova.executions.link(one("id"), Number(one("seq")), { scope }));
    },
  },
];
