import { createServer, IncomingMessage, type RequestListener, type Server, type ServerOptions } from "node:http";

/**
 * Whoever stops reading it in the middle leaves the rest on its connection. Node's own iterator destroys the request
 * instead, and nothing is read from the connection any more: a client that has sent its body and got its answer sends its
 * next request on it, and waits for ever.
 */
class Received extends IncomingMessage {
  override [Symbol.asyncIterator]() {
    return this.iterator({ destroyOnReturn: false });
  }
}

/**
 * The server of every endpoint. A handler may answer before it has read the request's body: the rest is read and dropped,
 * so that the sender hears the answer and the connection stays of use.
 */
export function httpServer(listener: RequestListener, options: ServerOptions = {}): Server {
  return createServer({ ...options, IncomingMessage: Received }, (request, response) => {
    const { socket } = request;
    response.once("finish", () => {
      if (request.destroyed && !request.complete) socket.destroy();
      request.unpipe();
      if (!request.readableFlowing) request.removeAllListeners("readable").resume();
    });
    listener(request, response);
  });
}
