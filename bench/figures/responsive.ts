import { countingCode } from "../chains.ts";
import { type Dev, openDev } from "../dev.ts";
import { atMost, type BenchApart, type Figure, rounded } from "../figure.ts";

const items = 10_000;
/** The longest time in milliseconds that a person should wait for a page. */
const aimMs = 500;

/** Asks every GET route of the API again and again while a large map runs, and reports the slowest answer. */
export const responsive: BenchApart = async () => {
  await using dev = await openDev();
  const { id } = await dev.client.workflows.publish(mapOfItems());
  const { execution_id } = await dev.client.executions.execute(id, {
    context: { list: Array.from({ length: items }, (_, i) => i) },
  });
  const paths = await pathsFor(dev, { workflow: id, execution: execution_id });
  const slowest = { path: "", ms: 0 };
  let [asked, hasEnded] = [0, false];
  const end = dev.endOf(execution_id).then(({ status }) => {
    hasEnded = true;
    return status;
  });
  while (!hasEnded) {
    for (const path of paths) {
      const start = performance.now();
      const answer = await fetch(dev.url + path, { headers: { authorization: `Bearer ${dev.apiKey}` } });
      await answer.arrayBuffer();
      const ms = performance.now() - start;
      if (answer.status >= 500) throw new RangeError(`GET ${path} answered ${answer.status}`);
      if (!hasEnded) asked += 1;
      if (!hasEnded && ms > slowest.ms) Object.assign(slowest, { path: path.replaceAll(execution_id, "{id}"), ms });
    }
  }
  const detail = { status: await end, requests: asked, routes: paths.length, slowest: slowest.path };
  return [figureOf(slowest.ms, detail)];
};

function figureOf(ms: number, detail: Figure["detail"]): Figure {
  return atMost(
    aimMs,
    `a map of ${items} items: slowest answer of the API to a GET meanwhile`,
    rounded(ms, 0),
    detail,
    " ms",
  );
}

function mapOfItems(): object {
  const body = { nodes: [{ id: "count", type: "action", code: countingCode }], edges: [] };
  return {
    id: "bench-responsive",
    nodes: [
      { id: "start", type: "start" },
      { id: "each", type: "map", items: "list", ...body },
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "each" },
      { from: "each", to: "end" },
    ],
  };
}

/** Returns the GET routes of the API whose parameters are ids of the run or of its workflow. */
async function pathsFor(dev: Dev, ids: { workflow: string; execution: string }): Promise<string[]> {
  const { paths } = (await (await fetch(`${dev.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const fill = (path: string) =>
    path
      .replace(/^\/executions\/\{\w+\}/, `/executions/${ids.execution}`)
      .replace(/^\/workflows\/\{\w+\}/, `/workflows/${ids.workflow}`);
  return Object.entries(paths).flatMap(([path, methods]) => {
    const filled = fill(path);
    return "get" in methods && !filled.includes("{") ? [filled] : [];
  });
}
