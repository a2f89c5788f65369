// The baseline of the HTTP relay: a process that passes requests to another port and answers back,
// without a look at their bodies.
import { Agent, createServer, request } from "node:http";
import { announce } from "./announce.mjs";

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });
const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
  const { method, url: path, headers } = incoming;
  const onward = request({ host: "127.0.0.1", port, method, path, headers, agent }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  incoming.pipe(onward);
});
server.listen(0, "127.0.0.1", () => announce(server.address().port));
