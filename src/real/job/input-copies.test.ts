import { deepEqual, equal } from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import type { InputPiece } from "../../core/service/input-pieces.ts";
import { InputCopies } from "./input-copies.ts";

const textOf = (pieces: readonly InputPiece[], process: number): string =>
  pieces
    .filter(({ rank }) => rank === process)
    .map(({ bytes }) => (bytes === null ? "." : Buffer.from(bytes).toString()))
    .join("|");

describe("R1 standard input of a rank that several processes play", () => {
  it("each is given the same bytes, the slow one later, and nothing is read that nobody wants", async () => {
    const stream = new PassThrough();
    const sent: InputPiece[] = [];
    const input = new InputCopies({ stream, readers: [0, 4], send: (piece) => sent.push(piece) });
    stream.write("first");
    await new Promise(setImmediate);
    equal(sent.length, 0);
    equal(input.want(0, 0), true);
    await new Promise(setImmediate);
    stream.write("second");
    equal(input.want(0, 5), true);
    await new Promise(setImmediate);
    equal(textOf(sent, 0), "first|second");
    equal(input.want(4, 0), true);
    equal(input.want(4, 5), true);
    equal(textOf(sent, 4), "first|second");
    stream.end();
    for (const process of [0, 4]) equal(input.want(process, 11), true);
    await new Promise(setImmediate);
    deepEqual([textOf(sent, 0), textOf(sent, 4)], ["first|second|.", "first|second|."]);
    input.close();
  });

  it("what the dead would have read is not kept for it; others, or wrong places, are refused", async () => {
    const stream = new PassThrough();
    const sent: InputPiece[] = [];
    const input = new InputCopies({ stream, readers: [0, 1], send: (piece) => sent.push(piece) });
    deepEqual([input.want(2, 0), input.want(0, 3)], [false, false]);
    input.lost(0);
    equal(input.want(0, 0), false);
    input.want(1, 0);
    stream.write("only");
    await new Promise(setImmediate);
    equal(textOf(sent, 1), "only");
    input.close();
  });

  it("R6 one that comes back reads on where its source was, also what all others have read meanwhile", async () => {
    const stream = new PassThrough();
    const sent: InputPiece[] = [];
    const input = new InputCopies({ stream, readers: [0, 1], keeps: true, send: (piece) => sent.push(piece) });
    input.lost(0);
    for (const [offset, text] of [
      [0, "first"],
      [5, "second"],
    ] as const) {
      input.want(1, offset);
      stream.write(text);
      await new Promise(setImmediate);
    }
    equal(textOf(sent, 1), "first|second");
    equal(input.want(0, 5), false);
    input.returned(0, 5);
    equal(input.want(0, 5), true);
    equal(textOf(sent, 0), "second");
    input.close();
  });
});
