// The package as people install it: from a clone, and from its archive.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "guildhall-package-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (program: string, args: readonly string[], cwd: string): string =>
  execFileSync(program, args, {
    cwd,
    encoding: "utf8",
    timeout: 120_000,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_RUNTIME_DIR: folder,
      npm_config_cache: join(folder, "cache"),
      npm_config_offline: "true",
      npm_config_audit: "false",
      npm_config_fund: "false",
      npm_config_update_notifier: "false",
    },
  });

test("`npm i -g .` in a clone puts the command on the PATH, and anything runs with it", () => {
  const prefix = join(folder, "prefix");
  run("npm", ["i", "-g", "--prefix", prefix, "."], root);
  const guildhall = join(prefix, "bin", "guildhall");
  expect(run(guildhall, ["--version"], folder)).toMatch(/^\d+\.\d+\.\d+/);
  expect(run(guildhall, ["call", "calculator.calculate", "expression=6*7"], folder)).toContain(
    "42",
  );
  run("npm", ["rm", "-g", "--prefix", prefix, "guildhall"], root);
  expect(existsSync(guildhall)).toBe(false);
});

test("the archive of `npm pack` has all that the command and the library need", () => {
  const packed = run("npm", ["pack", "--json", "--pack-destination", folder], root);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  // As npm unpacks it, with the dependencies that the lock names.
  const project = join(folder, "project");
  const modules = join(project, "node_modules");
  mkdirSync(modules, { recursive: true });
  run("tar", ["-xzf", filename, "-C", modules], folder);
  run("mv", ["package", "guildhall"], modules);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const cli = join(modules, "guildhall", "dist", "cli.js");
  expect(run(process.execPath, [cli, "--version"], project)).toMatch(/^\d+\.\d+\.\d+/);
  // Workers and data files are found, too.
  writeFileSync(join(project, "sum.lisp"), "(* 6 7)");
  expect(run(process.execPath, [cli, "lisp", "sum.lisp"], project)).toContain("42");
  expect(run(process.execPath, [cli, "init", "--yes"], project)).toContain("guildhall.json");
  const program = 'import { tool } from "guildhall";\nconsole.log(typeof tool);\n';
  writeFileSync(join(project, "main.mjs"), program);
  expect(run(process.execPath, ["main.mjs"], project)).toBe("function\n");
});

test("the types that a build writes check a program that uses the library", () => {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(exports["."].types).toBe("./dist/types/index.d.ts");
  const types = join(folder, "types");
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  run(process.execPath, [tsc, "-p", "tsconfig.types.json", "--outDir", types], root);
  const program = `import { createHall, MCPToolCall, tool, toolkit } from "guildhall";
const put = tool({ name: "put", description: "Stores", input: { type: "object" } }, () => "ok");
const hall = await createHall({ toolkits: [toolkit({ name: "memory", tools: [put] })] });
const text: string = MCPToolCall({ name: "memory.put", arguments: {} }).params.name;
console.log(text, (await hall.call(text)).content.length);
export {};
`;
  writeFileSync(join(folder, "main.ts"), program);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        target: "es2022",
        module: "nodenext",
        typeRoots: [join(root, "node_modules", "@types")],
        types: ["node"],
        paths: { guildhall: ["./types/index.d.ts"] },
      },
      files: ["main.ts"],
    }),
  );
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  expect(run(process.execPath, [tsc, "-p", "."], folder)).toBe("");
});
