/** M6: the patience with a compile server that starts. The servers here are programs of a few lines. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it, type TestContext } from "node:test";
import { timeLimit } from "../../test/patience.ts";
import { encodeValue } from "../real/framing/value-frame.ts";
import { flagsFor } from "../v8/flags.ts";
import { CannotCompile, ServerClient } from "./client.ts";
import { replyBounds } from "./frames.ts";
import type { Reply } from "./requests.ts";
import { type CompileServerPlace, serverPlace } from "./server-place.ts";

const root = mkdtempSync(join(tmpdir(), "banyan-client-"));
after(() => rmSync(root, { recursive: true, force: true }));
const limit = timeLimit(60_000);
const request = { kind: "ask", driver: "clang", words: ["--version"] } as const;
const idleMs = 250;
/** Processor time, so that the server is at work for longer than the patience on any machine. */
const workMs = 2 * idleMs;

/** Takes the socket first, like the real server. The test kills every process that left its number beside the program. */
const begin = `require("node:fs").writeFileSync(__filename + ".pid", String(process.pid));`;
const work = `
  const usedMs = ({ user, system }) => (user + system) / 1000;
  while (usedMs(process.cpuUsage()) < ${workMs});`;
const reply: Reply = { kind: "broken", message: "it has answered" };
const encoded = encodeValue(replyBounds, reply);
assert(encoded.ok);
const answer = `
  const server = require("node:net").createServer((socket) =>
    socket.once("data", () => {
      socket.end(Buffer.from("${encoded.frame.toString("hex")}", "hex"));
      server.close();
    }));
  server.listen(process.argv[2]);`;

interface Place {
  readonly place: CompileServerPlace;
  readonly server: string;
  readonly client: ServerClient;
}

function placeWith(t: TestContext, name: string, program: string, atWorkMs = 60_000): Place {
  const cacheFolder = join(root, name);
  mkdirSync(cacheFolder, { mode: 0o700 });
  const place = serverPlace(cacheFolder, [name]);
  const server = join(cacheFolder, "server.cjs");
  writeFileSync(server, begin + program);
  t.after(() => {
    try {
      process.kill(Number(readFileSync(`${server}.pid`, "utf8")), "SIGKILL");
    } catch {
      // The process has ended, or never began.
    }
  });
  const startPatience = { idleMs, atWorkMs };
  return { place, server, client: new ServerClient({ place, server, cacheFolder, startPatience }) };
}

const isRefused = (error: unknown): boolean => {
  assert(error instanceof CannotCompile);
  assert.match(error.message, /^Cannot reach the compile server at .*: it did not answer in [\d.]+ s$/);
  return true;
};

const onLinux = process.platform === "linux" ? limit : { skip: "/proc is of Linux" };

it("M6 tools that are not installed are named, with what to do", limit, async (t) => {
  const { place, server } = placeWith(t, "bare", "");
  const packages = { "@nobody/compiler": "1.2.3", "nobodys-linker": "4.5.6" };
  const client = new ServerClient({ place, server, packages, cacheFolder: join(root, "bare") });
  await assert.rejects(client.run(request), {
    name: "CannotCompile",
    message:
      "Cannot compile: packages of the compiler are not installed (@nobody/compiler, nobodys-linker); get them with: npm install @nobody/compiler@1.2.3 nobodys-linker@4.5.6",
  });
});

it("X9 a server for long may optimise what it uses most, any other does not", limit, async (t) => {
  const noteFlags = `require("node:fs").writeFileSync(__filename + ".flags", JSON.stringify(process.execArgv));`;
  for (const [isForLong, purpose] of [
    [true, "run the compiler for long"],
    [false, "run the compiler"],
  ] as const) {
    const { place, server } = placeWith(t, `${isForLong}`, noteFlags + answer);
    await new ServerClient({ place, server, cacheFolder: join(root, `${isForLong}`), isForLong }).run(request);
    assert.deepEqual(JSON.parse(readFileSync(`${server}.flags`, "utf8")), flagsFor(purpose));
  }
  assert(flagsFor("run the compiler").includes("--liftoff-only"));
  assert(!flagsFor("run the compiler for long").includes("--liftoff-only"));
});

describe("M6 a compile server that starts", () => {
  it("is waited for as long as it is at work", onLinux, async (t) => {
    const { client } = placeWith(t, "busy", work + answer);
    assert.deepEqual(await client.run(request), { kind: "broken", message: "it has answered" });
  });

  it("is waited for as long as it is at work, whoever started it", onLinux, async (t) => {
    const { client, place, server } = placeWith(t, "other", work + answer);
    mkdirSync(place.folder, { mode: 0o700 });
    const other = spawn(process.execPath, [server, place.socket], { stdio: "ignore" });
    // On a busy machine the client may have lost its patience and started a server of its own, which answers.
    t.after(() => other.kill("SIGKILL"));
    writeFileSync(place.lock, `${other.pid} word\n`);
    assert.deepEqual(await client.run(request), { kind: "broken", message: "it has answered" });
  });

  it("is not waited for when it does nothing", limit, async (t) => {
    const { client } = placeWith(t, "idle", "setInterval(() => {}, 1000);");
    await assert.rejects(client.run(request), isRefused);
  });

  it("is not waited for when it is at work for ever", limit, async (t) => {
    const { client } = placeWith(t, "endless", "for (;;);", 2 * idleMs);
    await assert.rejects(client.run(request), isRefused);
  });
});
