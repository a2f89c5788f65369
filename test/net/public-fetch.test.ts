import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type LookupFunction,
  type Server,
} from "node:net";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { Scope } from "../../src/base/scope.ts";
import { createFetcher, type Fetcher } from "../../src/net/public-fetch.ts";
import { loadSource } from "../../src/toolkits/document/source.ts";
import { guardMs } from "../servers/until.ts";

/** Counts everything that reaches the forbidden addresses: 127.0.0.1 and, if the machine has it, ::1. */
const canary = { connections: 0, bytes: 0 };
/** Plays the public web on the same port of 127.0.0.2, which the tests allow. */
let web: Server;
let port: number;
const canaries: Server[] = [];

beforeAll(async () => {
  web = createServer(answer);
  await listen(web, 0, "127.0.0.2");
  port = (web.address() as AddressInfo).port;
  for (const host of ["127.0.0.1", "::1"]) {
    const server = createTcpServer((socket) => {
      canary.connections++;
      socket.on("error", () => {});
      socket.on("data", (chunk) => {
        canary.bytes += chunk.length;
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret");
      });
    });
    await listen(server, port, host).then(
      () => canaries.push(server),
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EADDRNOTAVAIL" && error.code !== "EAFNOSUPPORT") throw error;
      },
    );
  }
});
afterAll(() => {
  for (const server of [web, ...canaries]) server.close();
});

function listen(server: Server, onPort: number, host: string): Promise<void> {
  return new Promise((resolve, reject) =>
    server.once("error", reject).listen(onPort, host, resolve),
  );
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://web.test");
  const hops = Number(searchParams.get("hops") ?? 0);
  if (pathname === "/redirect") {
    const onwards =
      hops > 0
        ? `/redirect?hops=${hops - 1}&to=${encodeURIComponent(searchParams.get("to") ?? "")}`
        : (searchParams.get("to") ?? "");
    response.writeHead(Number(searchParams.get("status") ?? 302), { location: onwards }).end();
    return;
  }
  const encoded = bombs[pathname];
  if (encoded)
    response
      .writeHead(200, { "content-encoding": encoded.encoding, "content-type": "text/plain" })
      .end(encoded.bytes());
  else if (pathname === "/endless") pour(response);
  else if (pathname === "/huge")
    response.writeHead(200, { "content-length": String(1024 ** 3) }).write("x");
  else if (pathname === "/missing") response.writeHead(404).end();
  else if (pathname === "/busy") response.writeHead(429, { "retry-after": "7" }).end();
  else if (pathname === "/silent") response.writeHead(200).write("a");
  else
    response
      .writeHead(200, { "content-type": "text/plain; charset=utf-8" })
      .end(`hello from ${request.headers.host}`);
}

function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, "x");
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", more).on("error", () => {});
  more();
}

const zeros = (megabytes: number) => Buffer.alloc(megabytes * 1024 * 1024);
const bombs: Readonly<Record<string, { encoding: string; bytes(): Buffer }>> = {
  "/fine.gz": { encoding: "gzip", bytes: () => gzipSync("a fine text, compressed") },
  "/fine.br": { encoding: "br", bytes: () => brotliCompressSync("a fine text, compressed") },
  "/bomb.gz": { encoding: "gzip", bytes: () => gzipSync(zeros(100), { level: 9 }) },
  "/bomb.br": {
    encoding: "br",
    bytes: () =>
      brotliCompressSync(zeros(100), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  },
  "/unknown": { encoding: "zstd-of-our-own", bytes: () => Buffer.from("x") },
  "/torn.gz": { encoding: "gzip", bytes: () => gzipSync("a".repeat(10_000)).subarray(0, 20) },
};

/** A fake resolver: each name returns its addresses in turn, as a rebinding server does. */
function createResolver(
  answers: Readonly<Record<string, readonly (string | readonly string[])[]>>,
): LookupFunction & { asked: number } {
  const turns = new Map<string, number>();
  const resolve: LookupFunction = (hostname, options, callback) => {
    own.asked++;
    const turn = turns.get(hostname) ?? 0;
    turns.set(hostname, turn + 1);
    const known = answers[hostname];
    const given = known?.[turn % known.length];
    if (given === undefined) {
      setImmediate(() =>
        callback(
          Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND" }),
          "",
        ),
      );
      return;
    }
    const addresses = [given]
      .flat()
      .map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    setImmediate(() =>
      options.all
        ? callback(null, addresses)
        : callback(null, addresses[0]?.address ?? "", addresses[0]?.family),
    );
  };
  const own = Object.assign(resolve, { asked: 0 });
  return own;
}

const load = async (
  url: string,
  fetch: Fetcher = createFetcher({ allow: [`127.0.0.2:${port}`], resolve: nobody }),
) => {
  const scope = new Scope(undefined, guardMs);
  try {
    return await scope.race(loadSource(url, { fetch, roots: () => [], scope }));
  } finally {
    scope.close();
  }
};
const nobody = createResolver({});

async function failureOf(work: Promise<unknown>): Promise<HallError> {
  const error = await work.then(
    (value) => new Error(`not refused: ${JSON.stringify(value).slice(0, 200)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HallError)) throw error;
  return error;
}

/** Spellings of local and private addresses, most of them seen in attacks. */
function insideForms(): string[] {
  const [o1, o2] = ["127.0.0.1", "169.254.169.254"];
  const v4 = [
    ...[
      o1,
      "127.1",
      "127.0.1",
      "127.000.000.001",
      "0177.0.0.1",
      "0177.0000.0000.0001",
      "0x7f.0.0.1",
      "0x7f.1",
      "0x7F000001",
      "2130706433",
      "017700000001",
    ],
    ...[
      "0x7f.0x0.0x0.0x1",
      "0177.0x0.0.1",
      "127.0.0.1.",
      "0",
      "0.0.0.0",
      "0x0",
      "00",
      "0.0",
      "127.127.127.127",
      "127.255.255.254",
      "0.0.0.1",
    ],
    ...[
      o2,
      "2852039166",
      "0xa9fea9fe",
      "0251.0376.0251.0376",
      "169.254.43518",
      "0xa9.0xfe.0xa9.0xfe",
      "169.254.170.2",
      "100.100.100.200",
      "192.0.0.192",
    ],
    ...[
      "10.0.0.1",
      "10.255.255.255",
      "012.0.0.1",
      "0xa.0.0.1",
      "167772161",
      "172.16.0.1",
      "172.31.255.255",
      "2886729729",
      "192.168.0.1",
      "192.168.1.254",
    ],
    ...[
      "3232235521",
      "0xc0a80001",
      "192.168.257",
      "100.64.0.1",
      "198.18.0.1",
      "224.0.0.1",
      "239.255.255.250",
      "240.0.0.1",
      "255.255.255.255",
      "192.0.2.1",
    ],
    ...[
      "4294967295",
      "198.51.100.7",
      "203.0.113.9",
      "192.88.99.1",
      "１２７.０.０.１",
      "①②⑦.⓪.⓪.①",
      "127。0。0。1",
      "127．0．0．1",
      "127%2e0%2e0%2e1",
      "0x7f%2e1",
    ],
  ];
  const v6 = [
    ...[
      "::1",
      "::",
      "0:0:0:0:0:0:0:1",
      "0000:0000:0000:0000:0000:0000:0000:0001",
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "::FFFF:7F00:0001",
      "::127.0.0.1",
    ],
    ...[
      "0:0:0:0:0:ffff:127.0.0.1",
      "::ffff:0:127.0.0.1",
      "64:ff9b::127.0.0.1",
      "64:ff9b::7f00:1",
      "64:ff9b:1::7f00:1",
      "2002:7f00:1::",
      "2002:7f00:0001::1",
    ],
    ...[
      "2001:0:7f00:1::",
      "::ffff:169.254.169.254",
      "::ffff:a9fe:a9fe",
      "fe80::1",
      "febf::1",
      "fec0::1",
      "fc00::1",
      "fd00::1",
      "fd00:ec2::254",
      "ff02::1",
    ],
    ...[
      "::ffff:10.0.0.1",
      "::ffff:192.168.0.1",
      "::10.0.0.1",
      "100::1",
      "2001:db8::1",
      "3fff::1",
      "4000::1",
      "fdff:ffff::1",
      "::2",
      "::ffff:0.0.0.0",
    ],
  ];
  const names = [
    ...[
      "localhost",
      "LOCALHOST",
      "localhost.",
      "localhost..",
      "LocalHost",
      "foo.localhost",
      "a.b.localhost",
      "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
      "local%68ost",
      "loc\u00adalhost",
    ],
    ...[
      "intranet",
      "metadata",
      "metadata.google.internal",
      "printer.local",
      "nas.lan",
      "router.home",
      "wiki.corp",
      "x.home.arpa",
      "db.internal.",
      "wiki.intranet",
    ],
  ];
  const hosts = [...v4, ...v6.map((host) => `[${host}]`), ...names];
  return hosts.flatMap((host) => [
    `http://${host}:${port}/`,
    `https://${host}:${port}/latest/meta-data/`,
  ]);
}

function trickyForms(): string[] {
  const at = `127.0.0.1:${port}`;
  return [
    ...[
      `http://example.com@${at}/`,
      `http://user:password@${at}/`,
      `http://example.com%2f@${at}/`,
      `http://127.0.0.2:${port}@${at}/`,
      `http://@${at}/`,
    ],
    ...[
      `http://user@127.0.0.2:${port}/`,
      `http://:secret@127.0.0.2:${port}/`,
      `http://example.com:80@${at}`,
      `http://${at}#@example.com/`,
      `http://${at}?@example.com`,
    ],
    ...[
      `http://${at}\\@example.com/`,
      `http:\\\\${at}\\`,
      `http:/${at}/`,
      `http:${at}`,
      `http:///${at}/`,
      `http:////${at}/`,
      `HTTP://${at}/`,
      ` http://${at}/ `,
    ],
    ...[
      `http://\t${at}/`,
      `ht\ntp://${at}/`,
      `http://127.0.0\t.1:${port}/`,
      `http://[::ffff:127.0.0.1%25lo]:${port}/`,
      `http://[::1%25lo]:${port}/`,
    ],
    ...[
      `http://127.0.0.1:0${port}/`,
      `http://${at}.example.com/`,
      `http://${at}:80/`,
      `http://127.0.0.1:${port + 65_536}/`,
      `//${at}/`,
      at,
      `localhost:${port}`,
    ],
    ...[
      `ftp://${at}/`,
      `gopher://${at}/_GET`,
      `ws://${at}/`,
      `wss://${at}/`,
      `file://${at}/etc/passwd`,
      "file:///etc/passwd",
      "file://localhost/etc/passwd",
    ],
    ...[
      "file:/etc/passwd",
      "file:etc/passwd",
      "file:///proc/self/environ",
      "FILE:///etc/passwd",
      "file:///%2e%2e/etc/passwd",
      `dict://${at}/info`,
      `jar:http://${at}!/x`,
    ],
    ...[
      `view-source:http://${at}/`,
      `blob:http://${at}/id`,
      `unix:/var/run/docker.sock`,
      `http+unix://%2Fvar%2Frun%2Fdocker.sock/info`,
      "javascript:fetch('/')",
    ],
    ...[
      "http://127.0.0.2:22/",
      "http://127.0.0.2:25/",
      "http://127.0.0.2:6/",
      "https://127.0.0.2:465/",
      "http://127.0.0.2:1023/",
      "http://",
      "http:",
      "about:blank",
      "",
    ],
    ...[
      "http://0x7f000001.example.com.:1/".replace(".example.com.:1", `:${port}`),
      `http://127.1:${port}/..;/`,
      `http://127.0.0.1:${port}/%0d%0aHost:%20x`,
    ],
  ];
}

describe("a private address", () => {
  test("is never dialled, in any spelling", async () => {
    const forms = [...new Set([...insideForms(), ...trickyForms()])];
    expect(forms.length).toBeGreaterThanOrEqual(200);
    // The resolver maps every name to the canary.
    const everywhere: LookupFunction = (_name, options, callback) =>
      options.all
        ? callback(null, [{ address: "127.0.0.1", family: 4 }])
        : callback(null, "127.0.0.1", 4);
    const fetch = createFetcher({ allow: [`127.0.0.2:${port}`], resolve: everywhere });
    const before = { ...canary };
    for (const form of forms) {
      const error = await failureOf(load(form, fetch)).catch((unexpected: unknown) => {
        throw new Error(`${form}: ${unexpected}`);
      });
      expect([form, error.code]).toEqual([form, expect.stringMatching(/^(DENIED|VALIDATION)$/)]);
    }
    expect(canary).toEqual(before);
    console.log(
      `SSRF table: ${forms.length} forms, ${canary.bytes - before.bytes} bytes at the canary`,
    );
  });

  test("is not reached through redirects of any kind", async () => {
    const before = { ...canary };
    const targets = [
      "http://127.0.0.1",
      "http://localhost",
      "http://2130706433",
      "http://[::1]",
      "//127.0.0.1",
      "http://[::ffff:7f00:1]",
      "http://a@127.0.0.2",
    ];
    for (const target of targets) {
      for (const [hops, status] of [
        [0, 301],
        [1, 302],
        [2, 303],
        [3, 307],
        [4, 308],
        [0, 308],
        [1, 301],
        [2, 302],
      ] as const) {
        const to = encodeURIComponent(`${target}:${port}/`);
        const error = await failureOf(
          load(`http://127.0.0.2:${port}/redirect?hops=${hops}&status=${status}&to=${to}`),
        );
        expect([target, hops, error.code]).toEqual([target, hops, "DENIED"]);
      }
    }
    for (const to of [
      "file:///etc/passwd",
      "ftp://127.0.0.1/",
      "data:text/plain,x",
      "javascript:x",
    ]) {
      expect(
        (await failureOf(load(`http://127.0.0.2:${port}/redirect?to=${encodeURIComponent(to)}`)))
          .code,
      ).toBe("DENIED");
    }
    expect(canary).toEqual(before);
  });

  test("is not reached by DNS rebinding", async () => {
    const before = { ...canary };
    const resolve = createResolver({
      "rebind.test": ["127.0.0.2", "127.0.0.1"],
      "rebind6.test": ["127.0.0.2", "::1", "::ffff:127.0.0.1"],
      "both.test": [["127.0.0.2", "127.0.0.1"]],
      "inside.test": ["127.0.0.1"],
    });
    const fetch = createFetcher({ allow: [`127.0.0.2:${port}`], resolve });
    const outcomes = { fetched: 0, refused: 0 };
    for (let flip = 0; flip < 300; flip++) {
      const name = ["rebind.test", "rebind6.test", "both.test", "inside.test"][flip % 4];
      await load(`http://${name}:${port}/`, fetch).then(
        () => outcomes.fetched++,
        (error: unknown) => {
          expect(error).toMatchObject({ code: "DENIED" });
          outcomes.refused++;
        },
      );
    }
    // One answer for one connection: what was looked at is what was dialled.
    expect(resolve.asked).toBe(300);
    expect(outcomes).toEqual({ fetched: 38 + 25, refused: 300 - 38 - 25 });
    expect(canary).toEqual(before);
  });

  test("is not reached by a redirect to a name that resolves to it", async () => {
    const before = { ...canary };
    const fetch = createFetcher({
      allow: [`127.0.0.2:${port}`],
      resolve: createResolver({ "rebind.test": ["127.0.0.2", "127.0.0.1"] }),
    });
    const url = `http://rebind.test:${port}/redirect?to=${encodeURIComponent(`http://rebind.test:${port}/`)}`;
    expect(await failureOf(load(url, fetch))).toMatchObject({
      code: "DENIED",
      message: "rebind.test resolves to the private address 127.0.0.1",
    });
    expect(canary).toEqual(before);
  });

  test("would reach the canary if it were allowed", async () => {
    const before = canary.bytes;
    const fetch = createFetcher({
      allow: [`127.0.0.1:${port}`],
      resolve: createResolver({ "inside.test": ["127.0.0.1"] }),
    });
    expect(Buffer.from((await load(`http://2130706433:${port}/`, fetch)).bytes).toString()).toBe(
      "secret",
    );
    expect(Buffer.from((await load(`http://inside.test:${port}/`, fetch)).bytes).toString()).toBe(
      "secret",
    );
    expect(canary.bytes).toBeGreaterThan(before);
  });
});

describe("a public address", () => {
  test("is fetched by address and by name, with its content type", async () => {
    const fetch = createFetcher({
      allow: [`127.0.0.2:${port}`],
      resolve: createResolver({ "web.test": ["127.0.0.2"] }),
    });
    for (const host of ["127.0.0.2", "web.test"]) {
      const found = await load(`http://${host}:${port}/page`, fetch);
      expect(found).toMatchObject({
        name: `http://${host}:${port}/page`,
        contentType: "text/plain; charset=utf-8",
      });
      expect(Buffer.from(found.bytes).toString()).toBe(`hello from ${host}:${port}`);
    }
  });

  test("is followed through five redirects at most", async () => {
    const found = await load(`http://127.0.0.2:${port}/redirect?hops=4&to=/page`);
    expect(found.name).toBe(`http://127.0.0.2:${port}/page`);
    expect(
      await failureOf(load(`http://127.0.0.2:${port}/redirect?hops=5&to=/page`)),
    ).toMatchObject({ code: "EXECUTION" });
  });

  test("may compress its response", async () => {
    for (const kind of ["gz", "br"]) {
      expect(
        Buffer.from((await load(`http://127.0.0.2:${port}/fine.${kind}`)).bytes).toString(),
      ).toBe("a fine text, compressed");
    }
  });

  test("reports a missing page, a busy server, a damaged body, an unknown encoding and an unknown name", async () => {
    const at = `http://127.0.0.2:${port}`;
    expect(await failureOf(load(`${at}/missing`))).toMatchObject({
      code: "EXECUTION",
      message: expect.stringContaining("404"),
    });
    expect(await failureOf(load(`${at}/busy`))).toMatchObject({
      code: "RATE_LIMITED",
      details: { retryAfterSeconds: 7 },
    });
    expect(await failureOf(load(`${at}/torn.gz`))).toMatchObject({ code: "EXECUTION" });
    expect(await failureOf(load(`${at}/unknown`))).toMatchObject({
      code: "EXECUTION",
      message: expect.stringContaining("zstd-of-our-own"),
    });
    expect(await failureOf(load(`http://nowhere.test:${port}/`))).toMatchObject({
      code: "UNAVAILABLE",
    });
  });

  test("is abandoned when the call is cancelled", async () => {
    const scope = new Scope();
    const fetch = createFetcher({ allow: [`127.0.0.2:${port}`] });
    const loading = loadSource(`http://127.0.0.2:${port}/silent`, {
      fetch,
      roots: () => [],
      scope,
    });
    await once(web, "request");
    scope.cancel(new HallError("CANCELLED", "no longer wanted"));
    expect(await failureOf(loading)).toMatchObject({ code: "CANCELLED" });
  });
});

describe("a response without end", () => {
  test.each(["/bomb.gz", "/bomb.br", "/endless", "/huge"])(
    "%s is refused with less than 64 MB",
    async (path) => {
      // Compressed before memory is measured.
      await load(`http://127.0.0.2:${port}/page`);
      const bytes = bombs[path]?.bytes();
      const server =
        bytes &&
        createServer(
          (_, response) =>
            void response
              .writeHead(200, { "content-encoding": bombs[path]?.encoding ?? "" })
              .end(bytes),
        );
      if (server) await listen(server, 0, "127.0.0.2");
      const at = `127.0.0.2:${server ? (server.address() as AddressInfo).port : port}`;
      const peak = watchMemory();
      const error = await failureOf(load(`http://${at}${path}`, createFetcher({ allow: [at] })));
      const grewMegabytes = peak();
      server?.close();
      expect(error.code).toBe("TOO_LARGE");
      expect(grewMegabytes).toBeLessThan(64);
    },
  );
});

/** Returns a function that gives the peak memory growth in MB since this call. */
function watchMemory(): () => number {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  return () => {
    clearInterval(timer);
    return (Math.max(peak, process.memoryUsage.rss()) - before) / 1024 / 1024;
  };
}
