/** What API Gateway's HTTP API (payload format 2.0) hands to a Lambda, as far as it is used. */
export interface HttpEvent {
  version: "2.0";
  rawPath: string;
  rawQueryString: string;
  /** Names in lower case. */
  headers: Record<string, string | undefined>;
  requestContext: { http: { method: string; path: string; sourceIp?: string } };
  pathParameters?: Record<string, string | undefined>;
  body?: string;
  isBase64Encoded: boolean;
}

export interface HttpAnswer {
  statusCode: number;
  headers: Record<string, string>;
  body?: string;
  isBase64Encoded?: true;
}

/** A request as routes see it. */
export interface Received {
  method: string;
  path: string;
  params: Record<string, string | undefined>;
  /** Throws `Unreadable` where a parameter comes more than once. */
  readonly query: Record<string, string>;
  headers: Record<string, string | undefined>;
  /** The body as it came; empty where there is none. */
  bytes: Buffer;
  /** The body's text. Throws `Unreadable` where it is none. */
  readonly text: string;
  /** Whose request it is, as far as API Gateway knows; empty where it does not. */
  sourceIp: string;
}
