import { chmodSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { findLaunch, type Launch } from "../../src/upstream/launcher.ts";
import { projectFiles } from "../../src/upstream/program.ts";
import { findUvLaunch } from "../../src/upstream/uv.ts";
import { makeHome } from "../servers/home.ts";

function launchOf(command: string, ...args: string[]): Launch | undefined {
  return findLaunch({ command, args, env: {}, cwd: undefined });
}

test.each([
  ["npx -y some-server .", ["some-server"], undefined, ["."]],
  ["npx -y -- some-server --port 1", ["some-server"], undefined, ["--port", "1"]],
  ["npx -p a --package=b run -y", ["a", "b"], "run", ["-y"]],
  ["npm exec --yes some-server -- x", ["some-server"], undefined, ["--", "x"]],
  ["npm --silent x some-server", ["some-server"], undefined, []],
])("%s installs packages and runs a program of theirs", (line, packages, bin, args) => {
  const [command = "", ...words] = line.split(" ");
  expect(launchOf(command, ...words)).toMatchObject({ manager: "npm", packages, bin, args });
});

test.each([
  ["uvx some-server@1.2.3 --port 1", ["some-server==1.2.3"], "some-server", [], ["--port", "1"]],
  ["uvx --from some[cli] -p 3.12 tool x", ["some[cli]"], "tool", ["--python=3.12"], ["x"]],
  ["uv tool run --with=a some-server@latest", ["some-server", "a"], "some-server", [], []],
])("%s is taken apart for a sandbox", (line, packages, bin, options, args) => {
  using folder = makeHome({ "~/uv": "", "~/uvx": "" });
  for (const name of ["~/uv", "~/uvx"]) chmodSync(folder.locate(name), 0o755);
  const [command = "", ...words] = line.split(" ");
  const launch = findUvLaunch({ command: join(folder.path, command), args: words, env: {} });
  expect(launch).toMatchObject({ manager: "uv", packages, bin, options, args });
  expect(launch?.isExact).toBe(line.includes("1.2.3"));
  expect(findUvLaunch({ command: join(folder.path, "uvx"), args: ["--x", "a"], env: {} })).toBe(
    undefined,
  );
});

test("options of the registry go to the installation", () => {
  expect(launchOf("npx", "-q", "--registry=https://r.example", "a")?.options).toEqual([
    "-q",
    "--registry=https://r.example",
  ]);
});

test.each([
  ["a@1.2.3", true],
  ["@s/a@1.2.3-beta.1", true],
  ["a", false],
  ["@s/a", false],
  ["a@latest", false],
  ["a@^1.2.3", false],
  ["a@1", false],
])("%s is exact: %s", (name, isExact) => {
  expect(launchOf("npx", name)?.isExact).toBe(isExact);
});

test.each(["node server.js", "npm run start", "npm install", "npm"])(
  "%s is no launcher",
  (line) => {
    const [command = "", ...args] = line.split(" ");
    expect(launchOf(command, ...args)).toBeUndefined();
  },
);

test.each([
  ["npx", "npx names no package"],
  ["npx -y --", "npx names no package"],
  ["npx -c ls", 'the option "-c" of npx is not supported'],
  ["npx --registry https://r.example a", 'write one with a value as "--registry=VALUE"'],
  ["npx .", '"." is a package of the project; set "command" to its program'],
  ["npx file:./src", "is a package of the project"],
  ["npx server.tgz", "is a package of the project"],
])("%s is refused", (line, reason) => {
  const [command = "", ...args] = line.split(" ");
  expect(() => launchOf(command, ...args)).toThrow(reason);
});

test.each([homedir(), dirname(homedir()), "/"])("programs in %s are the user's own", (folder) => {
  using _cwd = vi.spyOn(process, "cwd").mockReturnValue(folder);
  const PATH = process.env.PATH?.split(":")
    .filter((entry) => entry !== "")
    .join(":");
  expect(launchOf("npx", "a")).toMatchObject({ manager: "npm", env: { PATH } });
  expect(projectFiles({ command: process.execPath, args: [], env: {}, cwd: undefined })).toEqual(
    {},
  );
});
