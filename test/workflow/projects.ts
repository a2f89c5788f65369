import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder with these files, gone after the test. */
export interface Project extends Disposable {
  readonly folder: string;
  path(...parts: string[]): string;
  read(path: string): string;
  write(path: string, text: string): void;
  /** Every file under a folder, sorted. */
  files(folder: string): readonly string[];
}

export function makeProject(files: Readonly<Record<string, string>> = {}): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "guildhall-workflow-")));
  const project: Project = {
    folder,
    path: (...parts) => join(folder, ...parts),
    read: (path) => readFileSync(join(folder, path), "utf8"),
    write(path, text) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    files: (path) =>
      readdirSync(join(folder, path), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, path).length + 1))
        .sort(),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
  for (const [path, text] of Object.entries(files)) project.write(path, text);
  return project;
}

/** A web service in TypeScript, as a team would have it. */
export const typescriptService: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({
    name: "shop",
    engines: { node: ">=20" },
    scripts: { build: "tsc", test: "vitest run", lint: "biome check", start: "node dist/main.js" },
    dependencies: { fastify: "5.2.0", pg: "8.13.1" },
    devDependencies: { typescript: "5.9.2", vitest: "3.1.0" },
  }),
  "README.md": "# Shop\n",
  ".gitignore": "node_modules\ndist\n",
  Dockerfile: "FROM node:22\n",
  "src/main.ts": "",
  "src/models/order-line.ts": "",
  "src/services/price-service.ts": "",
  "src/routes/orders.ts": "",
  "test/price-service.test.ts": "",
  "node_modules/left-pad/index.js": "",
};

/** A command-line tool in Python. */
export const pythonTool: Readonly<Record<string, string>> = {
  "pyproject.toml": `[project]
name = "logsift"
requires-python = ">=3.11"
dependencies = ["click>=8.1", "rich"]
[project.scripts]
logsift = "logsift.cli:main"
[project.optional-dependencies]
dev = ["pytest>=8"]
`,
  "logsift/__init__.py": "",
  "logsift/cli.py": "",
  "logsift/log_reader.py": "",
  "tests/test_log_reader.py": "",
};

export const descriptions = {
  service:
    "As a librarian, I want to create, edit and delete book records with a title, an author and an ISBN so that the catalogue stays current. Readers can search books by title or author. When a book is lent, it must not be shown as available.",
  tool: "I want a command that summarizes log files and shows the ten most frequent errors. It should handle files up to 2 GB in under 30 seconds.",
  bullets: `We need a webhook relay for our platform.

- Operators can register endpoints with a URL and a secret
- The relay must sign every request with HMAC and retry failed deliveries up to 5 times with exponential backoff
- If an endpoint fails for 24 hours, it should be disabled and its owner is notified by email
- Operators can see the last 100 deliveries of an endpoint and replay any of them
- Delivery must be fast and the system should be secure`,
  empty:
    "Users can upload photos and organize them into albums. Albums are grouped by date. Admins must approve shared albums within 24 hours.",
} as const;
