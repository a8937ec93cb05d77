export {
  type Binding,
  type HttpServerOptions,
  hostName,
  httpServer,
  type Listening,
  openServer,
  readBody,
} from "./http-server.ts";
export { throughDraft, writeWhole } from "./write-whole.ts";
