import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An npm registry on a loopback port. */
export interface PackageRegistry extends AsyncDisposable {
  readonly origin: string;
  /** Adds or replaces a version, which is the latest from now on; its program is `main`. Returns the integrity. */
  publish(name: string, version: string, main: string, bin?: string, scripts?: object): string;
}

interface Published {
  readonly latest: string;
  readonly versions: Readonly<Record<string, object>>;
}

export async function startPackageRegistry(): Promise<PackageRegistry> {
  const packages = new Map<string, Published>();
  const tarballs = new Map<string, Buffer>();
  const server = createServer(({ url = "", method }, response) => {
    const tarball = tarballs.get(url);
    const name = decodeURIComponent(url.slice(1));
    const found = packages.get(name);
    if (tarball) response.end(tarball);
    else if (method === "GET" && found) {
      response.setHeader("content-type", "application/json");
      const { latest, versions } = found;
      response.end(JSON.stringify({ name, "dist-tags": { latest }, versions }));
    } else {
      response.statusCode = 404;
      response.end("{}");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    origin,
    publish(name, version, main, bin = name.replace(/^@[^/]*\//, ""), scripts = {}) {
      const manifest = { name, version, bin: { [bin]: "main.mjs" }, scripts };
      const tarball = pack(manifest, main);
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
      const path = `/${encodeURIComponent(name)}/-/${version}.tgz`;
      tarballs.set(path, tarball);
      const dist = { tarball: `${origin}${path}`, integrity };
      const versions = {
        ...packages.get(name)?.versions,
        [version]: { ...manifest, hasInstallScript: "install" in scripts, dist },
      };
      packages.set(name, { latest: version, versions });
      return integrity;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pack(manifest: object, main: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "guildhall-package-"));
  try {
    mkdirSync(join(folder, "package"));
    writeFileSync(join(folder, "package", "package.json"), JSON.stringify(manifest));
    writeFileSync(join(folder, "package", "main.mjs"), main);
    chmodSync(join(folder, "package", "main.mjs"), 0o755);
    execFileSync("tar", ["-czf", "package.tgz", "package"], { cwd: folder });
    return readFileSync(join(folder, "package.tgz"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
