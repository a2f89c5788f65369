// An OpenID provider on a loopback port, where everybody who comes is "anna" of the group "staff" and agrees to
// everything. Prints its address. With an address as its argument it knows the public client "hall", whose browsers
// come back there.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: process.argv[2]
    ? [
        {
          client_id: "hall",
          redirect_uris: [process.argv[2]],
          token_endpoint_auth_method: "none",
        },
      ]
    : [],
  scopes: ["openid", "offline_access", "call", "read"],
  cookies: { keys: ["a key for tests"] },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, resource) => ({
        audience: resource,
        scope: "call read",
        accessTokenFormat: "jwt",
      }),
      useGrantedResource: () => true,
    },
  },
  findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  extraTokenClaims: () => ({ groups: ["staff"] }),
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
});

/** Signs in, then agrees. */
async function interact(request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === "login")
    return provider.interactionFinished(request, response, { login: { accountId: "anna" } });
  const grant = new provider.Grant({
    accountId: session.accountId,
    clientId: params.client_id,
  });
  grant.addOIDCScope(`openid ${params.scope}`);
  grant.addResourceScope(params.resource, params.scope);
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(
    request,
    response,
    { consent },
    { mergeWithLastSubmission: true },
  );
}

const answer = provider.callback();
server.on("request", (request, response) =>
  request.url.startsWith("/interaction/") ? interact(request, response) : answer(request, response),
);
process.stdout.write(`${issuer}\n`);
