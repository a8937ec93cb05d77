import type { E2bServer } from "../e2b/open.ts";
import type { AwsService, CounterBook } from "./counters.ts";
import type { Endpoints } from "./owner-file.ts";
import type { AnsweredRequest } from "./request-tap.ts";

/** Counts, in the owner, what every execution asks of the endpoints; told of each request that was answered. */
export function requestCounter(
  book: CounterBook,
  endpoints: Pick<Endpoints, AwsService | "e2bApi">,
  e2b: Pick<E2bServer, "sandboxes">,
): (answered: AnsweredRequest) => void {
  const services = new Map<number, AwsService | "e2bApi">();
  for (const service of ["dynamodb", "s3", "states", "e2bApi"] as const) {
    services.set(Number(new URL(endpoints[service]).port), service);
  }
  return (answered) => {
    const service = services.get(answered.port);
    if (service === "e2bApi") book.countSandbox(sandboxText(answered, e2b));
    else if (service) book.countAws(service, answered.request.url + answered.json, storedBytes(service, answered));
  };
}

/** A request to a sandbox says only its id; the sandbox's metadata say whose it is. */
function sandboxText({ request, json }: AnsweredRequest, e2b: Pick<E2bServer, "sandboxes">): string {
  const [, inPath] = /^\/(?:v2\/)?sandboxes\/(\w+)/.exec(request.url ?? "") ?? [];
  const id = request.headers["e2b-sandbox-id"] ?? inPath;
  const sandbox = id && e2b.sandboxes().find((one) => one.id === id);
  return `${request.url} ${json} ${sandbox ? JSON.stringify(sandbox.metadata) : ""}`;
}

function storedBytes(service: AwsService, { request, status, json }: AnsweredRequest): number {
  if (status >= 300) return 0;
  const { headers } = request;
  if (service === "dynamodb") {
    return /\.(PutItem|UpdateItem|BatchWriteItem)$/.test(String(headers["x-amz-target"])) ? Buffer.byteLength(json) : 0;
  }
  if (service !== "s3" || request.method !== "PUT") return 0;
  return Number(headers["x-amz-decoded-content-length"] ?? headers["content-length"] ?? 0);
}
