/** X7: whatever bytes come, the decoder neither throws nor lets nonsense through. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../core/base/testing/properties.ts";
import { BYTES, EXTRA, KIND, PAYLOAD, PacketKind, TAG } from "../../../core/wire/packet.ts";
import { CLOSED, type SocketCalls, WOULD_BLOCK } from "../sockets/socket-calls.ts";
import { PlainMemory } from "../testing/plain-memory.ts";
import { badFrame, FrameKind, frameBytes, pieceBytesMax, stampFrame } from "./frame.ts";
import { BAD, InStream, inBufferBytes, NOTHING } from "./in-stream.ts";
import { OutStream } from "./out-stream.ts";

const eagerBytesMax = 1024;
const memory = new PlainMemory(1);
const words = new Int32Array(memory.bytes.buffer);
const outAt = memory.allocate(8192);
const inAt = memory.allocate(inBufferBytes(eagerBytesMax));
const elsewhere = memory.allocate(0);

/** A socket that gives these bytes, some at a time, and then ends. */
function feed(bytes: Uint8Array, chunk: number): { read(at: InStream): number } {
  let given = 0;
  const receive = (_fd: number, at: number, room: number): number => {
    const length = Math.min(room, chunk, bytes.length - given);
    if (length === 0) return CLOSED;
    memory.bytes.set(bytes.subarray(given, given + length), at);
    given += length;
    return length;
  };
  const calls = { receive, receiveView: () => WOULD_BLOCK } as unknown as SocketCalls;
  return { read: (at) => at.read(calls, 0) };
}

function newStreams() {
  const out = new OutStream({ words, at: outAt, bytes: 8192 });
  const options = {
    words,
    memory,
    buffers: memory,
    at: inAt,
    bytes: inBufferBytes(eagerBytesMax),
    eagerBytesMax,
    out,
  };
  return new InStream(options);
}

/** What every packet that gets through must be like. */
function checkPacket(packet: number): void {
  const kind = words[packet + KIND]! & 0xff;
  const payload = words[packet + PAYLOAD]!;
  const bytes = words[packet + BYTES]!;
  assert.ok(kind >= PacketKind.EAGER && kind <= PacketKind.INQUIRY);
  assert.ok(kind !== PacketKind.HELP && kind !== PacketKind.FINISH);
  assert.ok(payload === 0 || (payload > inAt && payload + Math.max(bytes, 0) <= elsewhere));
  if (kind === PacketKind.EAGER) assert.ok(bytes >= 0 && bytes <= eagerBytesMax && (payload !== 0) === (bytes !== 0));
  if (kind === PacketKind.FRAGMENT) assert.ok(bytes > 0 && words[packet + TAG]! >= 0 && payload !== 0);
  if (kind === PacketKind.RTS) assert.ok(bytes >= 0 && words[packet + EXTRA + 1] === -1);
  if (kind === PacketKind.CTS) assert.equal(bytes, -1);
}

function run(bytes: Uint8Array, chunk: number): number {
  const stream = newStreams();
  const socket = feed(bytes, chunk);
  let packets = 0;
  for (let i = 0; i < 100_000; i++) {
    const packet = stream.next();
    if (packet === BAD) {
      assert.notEqual(stream.reason, "");
      return packets;
    }
    if (packet === NOTHING) {
      if (socket.read(stream) <= 0) return packets;
      continue;
    }
    checkPacket(packet);
    packets++;
    stream.release();
  }
  throw new Error("the decoder does not come to an end");
}

test("X7: arbitrary bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 4000 }), fc.integer({ min: 1, max: 5000 }), (bytes, chunk) => {
      assert.equal(run(bytes, chunk), 0);
    }),
    { numRuns: 500 },
  );
});

/** Headers whose check is right but whose words are anything: what a broken or hostile node of the job could send. */
const frame = fc
  .record({
    kind: fc.oneof(
      fc.integer({ min: 0, max: 15 }),
      fc.constantFrom(FrameKind.RECEIPT, FrameKind.FINISHED),
      fc.nat(255),
    ),
    length: fc.oneof(fc.nat(eagerBytesMax), fc.constant(0), fc.constant(0), fc.integer(), fc.constant(pieceBytesMax)),
    words: fc.array(fc.oneof(fc.integer(), fc.constant(-1), fc.nat(2000)), { minLength: 16, maxLength: 16 }),
    honest: fc.boolean(),
    follows: fc.nat(2500),
  })
  .map(({ kind, length, words: content, honest, follows }) => {
    const bytes = new Uint8Array(64 + follows);
    const header = new Int32Array(bytes.buffer, 0, 16);
    header.set(content);
    header[KIND] = kind;
    if (honest) {
      header[BYTES] = kind === PacketKind.CTS ? -1 : length;
      header[EXTRA + 1] = -1;
    }
    stampFrame(header, 0, length, 0);
    const whole = length >= 0 && length <= 2400 ? frameBytes(length) : bytes.length;
    return bytes.subarray(0, Math.min(whole, bytes.length));
  });

test("X7: frames in step with anything in them", () => {
  let packets = 0;
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.integer({ min: 1, max: 5000 }), (frames, chunk) => {
      packets += run(Buffer.concat(frames), chunk);
    }),
    { numRuns: 2000 },
  );
  assert.ok(packets > 50, "the good ones among them get through");
});

test("X7: a frame is bad for a reason", () => {
  const header = new Int32Array(16);
  const reasonOf = (kind: number, length: number, more: Record<number, number> = {}): string | null => {
    header.fill(0);
    header[KIND] = kind;
    for (const [word, value] of Object.entries(more)) header[Number(word)] = value;
    stampFrame(header, 0, length, 0);
    return badFrame(header, 0, eagerBytesMax);
  };
  assert.equal(reasonOf(PacketKind.EAGER, 8, { [BYTES]: 8 }), null);
  assert.match(reasonOf(PacketKind.EAGER, 8, { [BYTES]: 9 })!, /not that of its frame/);
  assert.match(reasonOf(PacketKind.EAGER, eagerBytesMax + 1, { [BYTES]: eagerBytesMax + 1 })!, /at most 1024/);
  assert.match(reasonOf(PacketKind.RTS, 0, { [BYTES]: 5, [EXTRA + 1]: 4096 })!, /pointer/);
  assert.match(reasonOf(PacketKind.CTS, 0, { [BYTES]: 4096 })!, /pointer/);
  assert.match(reasonOf(PacketKind.HELP, 0)!, /kind 7/);
  assert.match(reasonOf(PacketKind.FINISH, 0)!, /kind 6/);
  assert.equal(reasonOf(PacketKind.AGREEMENT, 0), null);
  assert.equal(reasonOf(PacketKind.INQUIRY, 0), null);
  assert.match(reasonOf(PacketKind.REVOKE, 8)!, /payload/);
  assert.match(reasonOf(PacketKind.FRAGMENT, 2001, { [BYTES]: 2001 })!, /whole lines/);
  stampFrame(header, 0, 8, 0);
  header[0] = 16;
  assert.match(badFrame(header, 0, eagerBytesMax)!, /out of step/);
});
