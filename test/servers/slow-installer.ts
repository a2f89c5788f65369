import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Stands in for npm: it "installs" a server once it is released. */
export interface SlowInstaller {
  /** The folder of `npx` and `npm`, for PATH. */
  readonly bin: string;
  /** Process ids of the installations that began. */
  starts(): readonly number[];
  release(): void;
}

/** `server` is the file that Node runs as the program of the package. */
export function makeSlowInstaller(folder: string, server: string): SlowInstaller {
  const [bin, begun, released] = ["bin", "begun", "released"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(bin, { recursive: true });
  const npm = `#!/bin/sh
echo $$ >> ${begun}
while [ ! -e ${released} ]; do sleep 0.02; done
mkdir -p node_modules/.bin node_modules/some-server
echo '{"dependencies":{"some-server":"1"}}' > package.json
echo '{"name":"some-server","version":"1.0.0","bin":"main.mjs"}' > node_modules/some-server/package.json
printf '#!/bin/sh\\nexec ${process.execPath} ${server} "$@"\\n' > node_modules/.bin/some-server
chmod +x node_modules/.bin/some-server
`;
  for (const name of ["npm", "npx"]) {
    writeFileSync(join(bin, name), npm);
    chmodSync(join(bin, name), 0o755);
  }
  return {
    bin,
    starts: () =>
      // The file is there before its first line.
      existsSync(begun) ? readFileSync(begun, "utf8").split("\n").filter(Boolean).map(Number) : [],
    release: () => writeFileSync(released, ""),
  };
}
