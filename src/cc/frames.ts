/**
 * Messages on a byte stream: length (4 bytes), then the value in the form of Node's structured clone. Both ends are the same
 * Banyan on the same Node (the socket's name says so), so the format needs no version of its own.
 */
import type { Socket } from "node:net";
import { deserialize, serialize } from "node:v8";
import { assert } from "../core/base/assert.ts";

/** More than the objects of any program; a peer that announces more does not speak this format. */
const frameBytesMax = 2 ** 31;

export function writeFrame(socket: Socket, message: unknown): void {
  const body = serialize(message);
  assert(body.length <= frameBytesMax, `a message of ${body.length} bytes`);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(body.length);
  socket.cork();
  socket.write(head);
  socket.write(body);
  socket.uncork();
}

/** The first message that arrives, or undefined when the stream ends, breaks or makes no sense before. */
export function readFrame(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let wanted = 4;
    const finish = (message: unknown): void => {
      socket.off("data", take).off("end", give).off("close", give).off("error", give);
      resolve(message);
    };
    const give = (): void => finish(undefined);
    const take = (piece: Buffer): void => {
      pieces.push(piece);
      size += piece.length;
      if (size < wanted) return;
      const bytes = Buffer.concat(pieces);
      pieces.splice(0, pieces.length, bytes);
      if (wanted === 4) wanted = 4 + bytes.readUInt32LE(0);
      if (wanted > frameBytesMax) finish(undefined);
      else if (size >= wanted) finish(decode(bytes.subarray(4, wanted)));
    };
    socket.on("data", take).on("end", give).on("close", give).on("error", give);
  });
}

function decode(bytes: Buffer): unknown {
  try {
    return deserialize(bytes);
  } catch {
    return undefined;
  }
}
