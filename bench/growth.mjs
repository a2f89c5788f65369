import { writeFileSync } from "node:fs";
import { median, ratioRow, short } from "./figures.mjs";
import { startClient } from "./line-client.mjs";
import { echoCall, inTurns, pathOf } from "./processes.mjs";
import { createProject, upstreamCommand } from "./projects.mjs";

/**
 * Relayed calls/s as a hall grows: more tools behind one server, and more servers, all of them called in turn. With
 * more servers fewer messages travel together and more processes take turns, so a process that only passes bytes to as
 * many servers is measured too.
 */
export default { name: "growth", run };

const depth = 64;
const warmUp = 20_000;
const calls = 5_000;
const lines = { tools: [1, 10, 100, 1_000], upstreams: [1, 10, 100], "byte relay": [1, 10, 100] };
const chart = new URL("../docs/images/growth.svg", import.meta.url);

async function run({ rounds = 9 } = {}) {
  const halls = [];
  try {
    for (const [kind, sizes] of Object.entries(lines))
      for (const size of sizes)
        halls.push(await (kind === "byte relay" ? openFan(size) : openHall(kind, size)));
    for (const hall of halls) await hall.pipeline(warmUp);
    const byName = Object.fromEntries(halls.map((hall) => [hall.name, hall]));
    await inTurns(rounds, Object.keys(byName), async (name) => {
      const hall = byName[name];
      hall.perSecond.push((calls / (await hall.pipeline(calls))) * 1_000);
    });
  } finally {
    for (const hall of halls) await hall.stop();
  }
  writeFileSync(chart, draw(halls));
  const of = (kind, size) =>
    halls.find((hall) => hall.kind === kind && hall.size === size).perSecond;
  return [
    ...lines.tools.slice(1).map((size) => {
      const figure = `calls/s with ${short(size)} tools ÷ with one`;
      return ratioRow(figure, of("tools", size), of("tools", 1), "calls/s", { atLeast: 0.9 });
    }),
    ...lines.upstreams.slice(1).map((size) => {
      const figure = `calls/s with ${size} servers ÷ with one`;
      return ratioRow(figure, of("upstreams", size), of("upstreams", 1), "calls/s");
    }),
    ...lines.upstreams.map((size) => {
      const figure = `calls/s with ${size} ${size === 1 ? "server" : "servers"}, hall ÷ byte relay`;
      return ratioRow(figure, of("upstreams", size), of("byte relay", size), "calls/s");
    }),
  ];
}

/** A process that passes the bytes of each call to the server that its name begins with. */
async function openFan(size) {
  const client = startClient(process.execPath, [
    pathOf("servers/fan-relay.mjs"),
    `${size}`,
    ...upstreamCommand,
  ]);
  await client.initialize();
  const makeCall = (number) => {
    const call = echoCall(number);
    return { ...call, params: { ...call.params, name: `u${number % size}__echo` } };
  };
  for (let number = 0; number < size; number++) await client.ask(makeCall(number));
  return {
    name: `byte relay ${size}`,
    kind: "byte relay",
    size,
    perSecond: [],
    pipeline: (count) => client.pipeline(count, depth, makeCall),
    stop: () => client.stop(),
  };
}

async function openHall(kind, size) {
  const [command, ...args] = upstreamCommand;
  const names = Array.from({ length: kind === "tools" ? 1 : size }, (_, i) => `u${i}`);
  const toolCount = kind === "tools" ? size : 1;
  const project = createProject(
    Object.fromEntries(names.map((name) => [name, { command, args: [...args, `${toolCount}`] }])),
  );
  project.command("build", "--yes");
  const client = project.start("--alone");
  await client.initialize();
  const makeCall = (number) => {
    const call = echoCall(number);
    const tool = number % toolCount === 0 ? "echo" : `echo_${number % toolCount}`;
    return {
      ...call,
      params: { ...call.params, name: `${names[number % names.length]}__${tool}` },
    };
  };
  // A server starts with its first call.
  for (const [number] of names.entries()) await client.ask(makeCall(number));
  return {
    name: `${kind} ${size}`,
    kind,
    size,
    perSecond: [],
    pipeline: (count) => client.pipeline(count, depth, makeCall),
    async stop() {
      await client.stop();
      project.remove();
    },
  };
}

const width = 640;
const height = 320;
const left = 64;
const bottom = 48;

/** One line per kind: sizes on a logarithmic scale, calls/s from zero. */
function draw(halls) {
  const most = Math.max(...halls.map(({ perSecond }) => median(perSecond)));
  const x = (size) => left + (Math.log10(size) / 3) * (width - left - 120);
  const y = (value) => height - bottom - (value / most) * (height - bottom - 32);
  const text = (atX, atY, words, anchor = "middle") =>
    `<text x="${atX.toFixed(0)}" y="${atY.toFixed(0)}" text-anchor="${anchor}">${words}</text>`;
  const line = (kind, color) => {
    const points = halls
      .filter((hall) => hall.kind === kind)
      .map(({ size, perSecond }) => [x(size), y(median(perSecond))]);
    const [lastX, lastY] = points.at(-1);
    const path = points.map((point) => point.map((value) => value.toFixed(1)).join(",")).join(" ");
    return `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>${text(lastX + 8, lastY + 4, kind, "start")}`;
  };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12"><title>Calls a second by the number of tools and upstreams</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<path d="M${left} 24V${height - bottom}H${width - 100}" fill="none" stroke="#888"/>`,
    text(left, 16, "relayed calls/s, 64 in flight", "start"),
    text(left - 8, y(most) + 4, short(most), "end"),
    text(left - 8, y(0) + 4, "0", "end"),
    ...lines.tools.map((size) => text(x(size), height - bottom + 18, short(size))),
    text(x(1_000) / 2 + left / 2, height - 12, "tools of one server; servers with one tool each"),
    line("tools", "#1d6fa5"),
    line("upstreams", "#b5541c"),
    line("byte relay", "#888"),
    "</svg>\n",
  ].join("\n");
}
