/** X7: other users of the machine, and full disks, where programs are compiled. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { serialize } from "node:v8";
import { timeLimit } from "../../test/patience.ts";
import { frameHeader } from "../real/framing/frame.ts";
import { CannotCompile, ServerClient } from "./client.ts";
import { serverPlace } from "./server-place.ts";
import { Session } from "./testing/session.ts";

const session = new Session();
after(() => session.end());
const stranger = 12345;
const isRoot = process.geteuid?.() === 0;
const asRoot = { skip: isRoot ? false : "only root can be two users" };
const hello = { "hello.c": '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' };

/** A process of another user that listens there and prints what it receives. */
async function impostorAt(socket: string): Promise<ChildProcess> {
  const program = `
    const server = require("node:net").createServer((socket) => {
      socket.on("data", (bytes) => process.stdout.write(bytes.length + " bytes\\n"));
    });
    server.listen(${JSON.stringify(socket)}, () => {
      require("node:fs").chmodSync(${JSON.stringify(socket)}, 0o777);
      process.stdout.write("listening\\n");
    });`;
  const impostor = spawn(process.execPath, ["-e", program], {
    uid: stranger,
    gid: stranger,
    cwd: "/",
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(impostor.stdout!, "data");
  return impostor;
}

describe("X7: the compile client", () => {
  it("sends nothing to another user's server", { ...asRoot, ...timeLimit(120_000) }, async () => {
    const root = mkdtempSync(join(tmpdir(), "banyan-strangers-"));
    chmodSync(root, 0o755);
    const place = serverPlace(root, ["a test"]);
    mkdirSync(place.folder, { mode: 0o700 });
    chownSync(place.folder, stranger, stranger);
    const impostor = await impostorAt(place.socket);
    let heard = "";
    impostor.stdout!.on("data", (text) => (heard += text));
    const client = new ServerClient({ place, server: "/nothing", cacheFolder: root });
    const refused = (why: RegExp) =>
      assert.rejects(client.run({ kind: "ask", driver: "clang", words: ["--version"] }), (error) => {
        assert.ok(error instanceof CannotCompile);
        assert.match(error.message, why);
        assert.match(error.message, /^Cannot use the compile server: [^\n]*; BANYAN_CACHE may name another folder$/);
        return true;
      });
    try {
      await refused(/server belongs to user 12345;/);
      await client.stop();
      chownSync(place.folder, 0, 0);
      await refused(/\.sock belongs to user 12345;/);
      chmodSync(place.folder, 0o711);
      await refused(/server is not for its owner alone;/);
    } finally {
      impostor.kill("SIGKILL");
      await once(impostor, "exit");
    }
    assert.equal(heard, "");
    rmSync(root, { recursive: true });
  });

  it("says in one line that the cache is another user's, for cc and run alike", asRoot, async () => {
    const folder = session.write("theirs", hello);
    const cache = join(folder, "cache");
    mkdirSync(cache);
    chownSync(cache, stranger, stranger);
    for (const words of ["cc hello.c", "run -q hello.c"]) {
      const { code, stderr } = await session.run(folder, words, { env: { BANYAN_CACHE: cache } });
      assert.equal(code, 1);
      const [first] = stderr.split("\n");
      const where = `${cache} belongs to user ${stranger}`;
      assert.equal(first, `banyan: Cannot use the cache: ${where}; let BANYAN_CACHE name a folder of your own`);
      assert.deepEqual(readdirSync(cache), []);
    }
  });

  it("says in one line that the cache cannot be reached, for cc and run alike", async () => {
    const folder = session.write("unreachable", hello);
    const cache = join(folder, "n".repeat(300));
    for (const words of ["cc hello.c", "run -q hello.c"]) {
      const { code, stderr } = await session.run(folder, words, { env: { BANYAN_CACHE: cache } });
      assert.equal(code, 1);
      const [first] = stderr.split("\n");
      const where = `${cache} cannot be reached (the name is too long)`;
      assert.equal(first, `banyan: Cannot use the cache: ${where}; let BANYAN_CACHE name a folder of your own`);
    }
  });

  it("says at once that no folder can be made in /proc", { skip: !existsSync("/proc/self") }, async () => {
    const folder = session.write("kernel", hello);
    for (const words of ["cc hello.c", "run -q hello.c"]) {
      const { code, stderr } = await session.run(folder, words, { env: { BANYAN_CACHE: "/proc/banyan/cache" } });
      assert.equal(code, 1);
      const where = "/proc/banyan/cache/cc/server cannot be made: its folder does not exist";
      const [first] = stderr.split("\n");
      assert.equal(first, `banyan: Cannot start the compile server: ${where}; BANYAN_CACHE may name another folder`);
    }
  });

  it("says at once that there is no room for a cache", { skip: asRoot.skip }, async (t) => {
    const folder = session.write("full", hello);
    const cache = join(folder, "cache");
    mkdirSync(cache);
    if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "banyan-test", cache]).status !== 0) {
      t.skip("a file system cannot be mounted here");
      return;
    }
    try {
      // To the last byte: no server can start, and no result can be kept.
      assert.throws(() => writeFileSync(join(cache, "filler"), Buffer.alloc(1 << 20)), { code: "ENOSPC" });
      for (const words of ["cc hello.c", "run -q hello.c"]) {
        const { code, stderr } = await session.run(folder, words, { env: { BANYAN_CACHE: cache } });
        assert.equal(code, 1);
        assert.match(
          stderr,
          /^banyan: Cannot start the compile server: .*(the disk is full|cannot be written).*; BANYAN_CACHE may name/,
        );
        assert.doesNotMatch(stderr, /did not answer/);
      }
    } finally {
      spawnSync("umount", ["-l", cache]);
    }
  });
});

describe("X7: the compile server", () => {
  it("drops what is no request, and serves on", async () => {
    const folder = session.write("nonsense", hello);
    assert.equal((await session.run(folder, "cc -c hello.c")).code, 0);
    const [pid, ...more] = session.servers();
    assert.deepEqual(more, []);
    const place = join(session.cache, "cc/server");
    const socketPath = join(place, readdirSync(place).find((name) => name.endsWith(".sock"))!);
    const file = { path: "/a.c", bytes: new Uint8Array(1), identity: "a" };
    const compile = {
      kind: "compile",
      driver: "clang",
      flags: [],
      stage: "-c",
      language: "c",
      input: "a.c",
      cwd: "/",
      files: [file],
    };
    for (const nonsense of [
      null,
      undefined,
      0,
      "stop",
      [],
      {},
      { kind: "toString" },
      { kind: "instrument", module: new Uint8Array(8), finish: null },
      { kind: "link" },
      { kind: "link", words: ["x"], files: [null] },
      { kind: "link", words: ["x"], files: [], finish: 7 },
      { kind: "ask", driver: "/bin/sh", words: [] },
      { kind: "ask", driver: "clang", words: [7] },
      { ...compile, files: [{ ...file, bytes: "text" }] },
      { ...compile, dependencies: { targets: "all" } },
    ]) {
      const body = serialize(nonsense);
      const socket = connect(socketPath);
      let heard = 0;
      socket.on("data", (bytes) => (heard += bytes.length));
      socket.write(Buffer.concat([frameHeader(0, body.length), body]));
      await once(socket, "close");
      assert.equal(heard, 0, JSON.stringify(nonsense));
    }
    assert.deepEqual(session.servers(), [pid]);
    assert.equal((await session.run(folder, "cc -c -DX hello.c")).code, 0);
    assert.deepEqual(session.servers(), [pid]);
  });
});
