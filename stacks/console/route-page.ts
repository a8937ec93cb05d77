/**
 * The code that CloudFront runs for each request, in a dialect close to ES 5.1. It redirects a browser from the bare
 * address to the page, and answers every path of the page with the page itself.
 */
export const routePage = String.raw`
function handler(event) {
  var request = event.request;
  var accept = request.headers.accept;
  var wantsPage = request.method === 'GET' && accept !== undefined && accept.value.indexOf('text/html') >= 0;
  if (request.uri === '/console' || (request.uri === '/' && wantsPage)) {
    return {
      statusCode: 302,
      statusDescription: 'Found',
      headers: { location: { value: '/console/' }, 'cache-control': { value: 'no-store' } },
    };
  }
  var isFile = /^\/console\/((assets\/)?[\w-][\w.-]*\.(js|css|svg)|config\.json)$/.test(request.uri);
  if (request.uri.indexOf('/console/') === 0 && !isFile) request.uri = '/console/index.html';
  return request;
}
`;
