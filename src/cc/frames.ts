/** The stream between a command and the compile server: one message each way (real/framing). */
import type { Socket } from "node:net";
import { assert } from "../core/base/assert.ts";
import { ByteQueue } from "../real/framing/byte-queue.ts";
import { type Bounds, encodeValue, ValueReader } from "../real/framing/value-frame.ts";
import type { CompilerRequest, Reply } from "./requests.ts";

/** More than the files of any program. */
const withFiles = 2 ** 31;
const short = 2 ** 20;

export const requestBounds: Bounds<CompilerRequest["kind"]> = {
  compile: withFiles,
  link: withFiles,
  ask: short,
  stop: short,
};
export const replyBounds: Bounds<Reply["kind"]> = { done: withFiles, broken: short };

/** `bounds`: of the messages of this side. */
export function writeMessage<Kind extends string>(
  socket: Socket,
  bounds: Bounds<Kind>,
  message: { readonly kind: Kind },
): void {
  const encoded = encodeValue(bounds, message);
  assert(encoded.ok, encoded.ok ? "" : encoded.problem);
  socket.write(encoded.frame);
}

/** The first message that arrives, or undefined when the stream ends, breaks or makes no sense before. `bounds`: of the other side's messages. */
export function readMessage(socket: Socket, bounds: Bounds<string>): Promise<unknown> {
  return new Promise((resolve) => {
    const queue = new ByteQueue();
    const reader = new ValueReader(queue, bounds);
    const finish = (message: unknown): void => {
      socket.off("data", take).off("end", give).off("close", give).off("error", give);
      resolve(message);
    };
    const give = (): void => finish(undefined);
    const take = (piece: Buffer): void => {
      queue.push(piece);
      const read = reader.next();
      if (read.state === "whole") finish(read.value);
      else if (read.state === "bad") finish(undefined);
    };
    socket.on("data", take).on("end", give).on("close", give).on("error", give);
  });
}
