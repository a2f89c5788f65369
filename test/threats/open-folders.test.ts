// A clone's config opens no folder to models until a person has approved that.
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { type Home, makeHome } from "../servers/home.ts";
import { spawnHall } from "../servers/process.ts";
import { callTool } from "../servers/upstreams.ts";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const opened = { documents: { roots: ["notes"] } };

function makeProject(files: Readonly<Record<string, object>>): Home {
  return makeHome({ "./notes/plan.txt": "canary", "./more/plan.txt": "canary", ...files });
}

const urlOf = (home: Home, file: string): string => pathToFileURL(home.locate(file)).href;

async function run(home: Home, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await home.run(cli, args);
  return `${stdout}${stderr}`;
}

const readDocument = (home: Home, file = "./notes/plan.txt"): Promise<string> =>
  run(home, "call", "document_analyzer.extract_text", `document_url=${urlOf(home, file)}`);

test("folders that a project's config opens are closed until a person approves them", async () => {
  using home = makeProject({ "./guildhall.json": opened });
  expect(await readDocument(home)).toContain(
    "documents.roots in this project's config has not been approved",
  );
  expect(await run(home, "build")).toContain("models do not read documents.roots in the config");

  await run(home, "verify", "--yes");
  expect(await readDocument(home)).toContain("canary");

  // Another folder is another approval.
  home.write("./guildhall.json", { ...opened, documents: { roots: ["notes", "more"] } });
  for (const file of ["./notes/plan.txt", "./more/plan.txt"])
    expect(await readDocument(home, file)).toContain("has not been approved");
});

test("a running hall closes the folders when the approval is taken back", async () => {
  using home = makeProject({ "./guildhall.json": opened });
  await run(home, "verify", "--yes");
  await using hall = spawnHall(["--alone"], {
    cwd: home.project,
    env: {
      HOME: home.path,
      XDG_DATA_HOME: home.locate("~/.local/share"),
      XDG_CONFIG_HOME: home.locate("~/.config"),
    },
  });
  await hall.greet();
  const read = async (): Promise<string> => {
    const name = "document_analyzer.extract_text";
    const args = { document_url: urlOf(home, "./notes/plan.txt") };
    return JSON.stringify(await callTool(hall, name, args));
  };
  expect(await read()).toContain("canary");
  await run(home, "trust", "reset", "--yes");
  expect(await read()).toContain("has not been approved");
});

test("folders in the user's own config need no approval", async () => {
  using home = makeProject({});
  const folders = [join(home.project, "notes")];
  home.write("~/.config/guildhall/config.json", { documents: { roots: folders } });
  expect(await readDocument(home)).toContain("canary");
});
