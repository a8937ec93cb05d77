import { InvalidInput } from "../errors.ts";

/** No API of NOVA answers more at once: AWS Lambda sends 6 MB, and a laptop's server what one page of a list may hold. */
export const maxAnswerBytes = 256 * 1024 * 1024;

/** The same answer, which ends in an error where it is longer: a server that is not trusted must not fill this machine. */
export function capped(answer: Response, maxBytes: number): Response {
  if (!answer.body) return answer;
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= maxBytes) controller.enqueue(chunk);
      else controller.error(new InvalidInput(`the server answered more than ${maxBytes} bytes - ask who runs it`));
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counting), { status, statusText, headers });
}
