/**
 * Stands between a node and its dispatcher, for tests: `banyan run --node-command "node meddler.mjs <plan>"`. Starts the node with an
 * invitation to itself, passes everything on, and meddles as the plan says: `<which>:<what>:<number>`, where `which` is the start of a
 * node (BANYAN_NODE_START) that is meant. It says so when it has.
 *
 *   cut     hangs up on both when the node has said so many bytes
 *   hold    from so many bytes of the node on nothing is passed on, and nobody hangs up; nor is anybody let in
 *   mute    the same, counted in bytes of the dispatcher
 *   flip    damages the node's byte with that number
 *   from    changes something in messages of the node, drawn from that seed; the messages are well formed
 *   to      the same in messages of the dispatcher
 *   look    says what others could see of the secret
 */
import { spawn } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { connect, createServer } from "node:net";
import { createInterface } from "node:readline";
import { deserialize, serialize } from "node:v8";

const [plan, file, ...words] = process.argv.slice(2);
const [which, what, number] = plan.split(":");
const isMeant = which === process.env.BANYAN_NODE_START;
const at = Number(number);
/** Of the handshake: what the node says, and what the dispatcher says. */
const nodeHandshakeBytes = 88;
const dispatcherHandshakeBytes = 40 + 48;
const headerBytes = 8;

let hasMeddled = false;
function meddled() {
  if (!hasMeddled) process.stderr.write(`meddled in process ${process.pid}\n`);
  hasMeddled = true;
}

/** Numbers that look random and are the same for a seed. */
function randomOf(seed) {
  let state = (seed * 2654435761 + 1) >>> 0;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

/** Some part of the value is another. */
function changed(value, random) {
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) {
    const others = [null, -1, 2 ** 40, 0, 1, 7, "x", "", [], {}, Number.NaN, true, new Uint8Array(3), undefined];
    return others[random(others.length)];
  }
  const keys = Object.keys(value).filter((key) => key !== "kind" || random(4) === 0);
  if (keys.length === 0) return random(2) === 0 ? { ...value, more: 1 } : null;
  const key = keys[random(keys.length)];
  const copy = Array.isArray(value) ? [...value] : { ...value };
  copy[key] = changed(value[key], random);
  return copy;
}

/** Passes frames on, some of them changed. */
function frameChanger(seed, handshakeBytes, pass) {
  const random = randomOf(seed);
  let rest = Buffer.alloc(0);
  let before = handshakeBytes;
  return (chunk) => {
    const first = Math.min(before, chunk.length);
    before -= first;
    if (first > 0) pass(chunk.subarray(0, first));
    rest = Buffer.concat([rest, chunk.subarray(first)]);
    while (rest.length >= headerBytes && rest.length >= headerBytes + rest.readUInt32LE(0)) {
      const end = headerBytes + rest.readUInt32LE(0);
      const [header, body] = [Buffer.from(rest.subarray(0, headerBytes)), rest.subarray(headerBytes, end)];
      rest = rest.subarray(end);
      if (random(3) > 0) pass(Buffer.concat([header, body]));
      else {
        const other = serialize(changed(deserialize(body), random));
        header.writeUInt32LE(other.length, 0);
        meddled();
        pass(Buffer.concat([header, other]));
      }
    }
  };
}

function flipper(pass) {
  let passed = 0;
  return (chunk) => {
    const place = at - passed;
    if (place >= 0 && place < chunk.length) {
      chunk[place] ^= 0xff;
      meddled();
    }
    passed += chunk.length;
    pass(chunk);
  };
}

/** What is beyond the place is kept back; it is reached when there is something to keep. */
function upTo(bytes, pass, reached) {
  let passed = 0;
  return (chunk) => {
    const room = bytes - passed;
    if (room > 0) pass(chunk.subarray(0, room));
    passed += chunk.length;
    if (passed > bytes) reached();
  };
}

function meet(inner, { host, port }) {
  const outer = connect(port, host);
  const hangUp = () => {
    inner.destroy();
    outer.destroy();
  };
  for (const socket of [inner, outer]) socket.on("error", () => {}).on("close", hangUp);
  const toDispatcher = (bytes) => void outer.write(bytes);
  const toNode = (bytes) => void inner.write(bytes);
  let isHeld = false;
  const hold = () => {
    isHeld = true;
    server.close();
    meddled();
  };
  const unlessHeld = (pass) => (bytes) => {
    if (!isHeld) pass(bytes);
  };
  const cut = () => {
    meddled();
    hangUp();
  };
  const fromNode = {
    cut: upTo(at, toDispatcher, cut),
    hold: upTo(at, toDispatcher, hold),
    mute: unlessHeld(toDispatcher),
    flip: flipper(toDispatcher),
    from: frameChanger(at, nodeHandshakeBytes, toDispatcher),
  }[isMeant ? what : ""];
  const fromDispatcher = {
    hold: unlessHeld(toNode),
    mute: upTo(at, toNode, hold),
    to: frameChanger(at, dispatcherHandshakeBytes, toNode),
  }[isMeant ? what : ""];
  inner.on("data", fromNode ?? toDispatcher);
  outer.on("data", fromDispatcher ?? toNode);
}

/** Everything that other users of the machine can see of a process, or that programs of its ranks inherit. */
function look(pid, secret, place) {
  const seen = ["cmdline", "environ"].map((name) => readFileSync(`/proc/${pid}/${name}`, "latin1")).join(" ");
  const known = [secret, Buffer.from(secret, "base64").toString("hex")].some((text) => seen.includes(text));
  process.stderr.write(`${place}: secret ${known ? "seen" : "hidden"}, input ${readlinkSync(`/proc/${pid}/fd/0`)}\n`);
}

let server;
createInterface({ input: process.stdin }).once("line", (line) => {
  const invitation = JSON.parse(line);
  server = createServer((inner) => {
    if (isMeant && what === "look") look(child.pid, invitation.secret, "before the handshake");
    meet(inner, invitation);
  });
  let child;
  server.listen(0, "127.0.0.1", () => {
    child = spawn(file, words, { stdio: ["pipe", "inherit", "inherit"] });
    child.stdin.on("error", () => {});
    child.stdin.end(`${JSON.stringify({ ...invitation, port: server.address().port })}\n`);
    child.on("exit", (code, signal) => {
      if (signal !== null) process.kill(process.pid, signal);
      else process.exit(code);
    });
  });
});
process.stdin.on("end", () => {
  if (server === undefined) process.exit(1);
});
