// A schema that somebody else wrote cannot stop the hall.
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { compile } from "../../src/gateway/compiler.ts";
import { findChecksPerValue } from "../../src/gateway/schema-cost.ts";
import { makeHome } from "../servers/home.ts";
import { spawnHall } from "../servers/process.ts";
import { until } from "../servers/until.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const server = fileURLToPath(new URL("../servers/defined.mjs", import.meta.url));

/** Each definition applies the next one twice: 2^60 checks for one value. */
function doubling(): object {
  const twice = (at: number) => ({ allOf: [ref(`d${at + 1}`), ref(`d${at + 1}`)] });
  const names = Array.from({ length: 60 }, (_, at) => [`d${at}`, twice(at)]);
  const $defs = { ...Object.fromEntries(names), d60: { type: "object" } };
  return { type: "object", $defs, allOf: [ref("d0")] };
}

const ref = (name: string) => ({ $ref: `#/$defs/${name}` });

/** Doubles with each level of the value. */
const deepening = {
  type: "object",
  $defs: { n: { properties: { a: { allOf: [ref("n"), ref("n")] } } } },
  ...ref("n"),
};

/** A tuple as draft-07 writes it; the reference by an anchor makes its cost unknown. */
const draft07 = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  definitions: { pair: { $id: "#pair", items: [{ type: "string" }, { type: "number" }] } },
  properties: { pair: { $ref: "#pair" } },
};

describe("the cost of a schema", () => {
  test.each<[string, object]>([
    ["applies a definition twice, 60 times over", doubling()],
    ["applies itself twice one level deeper", deepening],
    ["applies itself to the same value", { allOf: [{ $ref: "#" }] }],
    [
      "applies itself by name and by pattern",
      {
        properties: { a: { $ref: "#" } },
        patternProperties: { "^a": { $ref: "#" } },
      },
    ],
    ["refers by an anchor", { $ref: "#there", $defs: { x: { $anchor: "there" } } }],
    ["has a dynamic reference", { properties: { a: { $dynamicRef: "#x" } } }],
  ])("is unknown if it %s", (_, schema) => {
    expect(findChecksPerValue(schema as never)).toBe(undefined);
  });

  test.each<[string, object, number]>([
    ["an object", { properties: { a: { type: "string" }, b: {} }, required: ["a"] }, 4],
    [
      "a tree",
      {
        $defs: { node: { properties: { left: ref("node"), right: ref("node") } } },
        ...ref("node"),
      },
      4,
    ],
    [
      "any JSON",
      {
        $defs: {
          json: {
            anyOf: [
              { type: ["string", "number", "boolean", "null"] },
              { type: "array", items: ref("json") },
              { type: "object", additionalProperties: ref("json") },
            ],
          },
        },
        properties: { value: ref("json") },
      },
      5,
    ],
    ["a tuple", { prefixItems: [{ enum: [1, 2] }, {}], items: { type: "string" } }, 3],
  ])("is known for %s", (_, schema, checks) => {
    expect(findChecksPerValue(schema as never)).toBe(checks);
  });
});

test("unique items are compared by their content", () => {
  const validate = compile({ type: "array", uniqueItems: true } as never, () => {});
  const items = Array.from({ length: 50_000 }, (_, at) => ({ id: at, name: "x" }));
  expect(validate(items)).toEqual([]);
  expect(validate([...items.slice(0, 10), { name: "x", id: 3 }])).toMatchObject([{ path: "" }]);
});

test("a tool whose schema never ends is refused, and every other request is answered", async () => {
  const tools = [
    { name: "bomb", inputSchema: doubling() },
    { name: "deep", inputSchema: deepening },
    { name: "plain", inputSchema: { type: "object" } },
    { name: "old", inputSchema: draft07 },
  ];
  using home = makeHome({ "./tools.json": JSON.stringify(tools) });
  home.write("./guildhall.json", {
    expose: "tools",
    mcpServers: {
      box: {
        command: process.execPath,
        args: [server, home.locate("./tools.json"), home.locate("./starts")],
      },
    },
  });
  expect(await home.run(cli, ["build", "--yes"])).toMatchObject({ code: 0 });
  const env = { ...home.env, XDG_DATA_HOME: home.locate("~/.local/share") };
  await using hall = spawnHall(["--alone"], { cwd: home.project, env });
  await hall.greet();

  const value = JSON.parse(`${'{"a":'.repeat(60)}{}${"}".repeat(60)}`);
  const [bomb, deep, plain] = await Promise.all([
    hall.request("tools/call", { name: "box.bomb", arguments: {} }),
    hall.request("tools/call", { name: "box.deep", arguments: value }),
    hall.request("tools/call", { name: "box.plain", arguments: {} }),
  ]);
  for (const answer of [bomb, deep])
    expect(JSON.stringify(answer)).toContain("takes longer than 50 ms");
  expect(JSON.stringify(plain)).toContain("ran plain");
  expect(await hall.request("ping")).toMatchObject({ result: {} });

  const old = (pair: unknown[]) =>
    hall.request("tools/call", { name: "box.old", arguments: { pair } });
  await until(
    async () => JSON.stringify(await old(["a", 1])).includes("ran old"),
    "a pair is valid",
  );
  await until(
    async () => JSON.stringify(await old([1, "a"])).includes("/pair/0 must be string"),
    "draft-07 applies in the worker",
  );

  // A busy machine may need more than 50 ms for the first one.
  await until(async () => {
    const shallow = await hall.request("tools/call", { name: "box.deep", arguments: { a: {} } });
    return JSON.stringify(shallow).includes("ran deep");
  }, "a value that is checked in time is accepted");
});
