import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { InputPiece } from "../../core/service/input-pieces.ts";
import { InputSource } from "./input-source.ts";

function source(pieces: readonly string[], keeps: boolean) {
  const sent: (string | null)[] = [];
  let told = () => {};
  const input = new InputSource({
    stream: Readable.from(
      pieces.map((text) => Buffer.from(text)),
      { objectMode: false, highWaterMark: 1 },
    ),
    keeps,
    send({ rank, offset, bytes }: InputPiece) {
      const reader = rank === 0 ? "" : `to ${rank}: `;
      sent.push(bytes === null ? null : `${reader}${offset} ${Buffer.from(bytes).toString()}`);
      told();
    },
  });
  const want = async (offset: number, rank = 0) => {
    const answer = new Promise<void>((resolve) => {
      told = resolve;
    });
    input.want(rank, offset);
    await answer;
    return sent.at(-1);
  };
  return { input, want };
}

test("X2 what was given is given again, in the same pieces, until an image covers it", async () => {
  const { input, want } = source(["alpha", "beta"], true);
  assert.equal(await want(0), "0 alpha");
  assert.equal(await want(5), "5 beta");
  assert.equal(await want(9), null);
  // A new life.
  assert.equal(await want(0), "0 alpha");
  assert.equal(await want(7), "7 ta");
  assert.equal(await want(9), null);
  assert.equal(input.keptBytes, 9);
  input.captured(1, 5);
  input.captured(2, 9);
  input.oldestIs(1);
  assert.equal(input.keptBytes, 4);
  assert.equal(await want(5), "5 beta");
  input.oldestIs(2);
  assert.equal(input.keptBytes, 0);
  assert.equal(await want(9), null);
});

test("where nobody is started again the last piece is kept until it has come: ranks may be moved meanwhile", async () => {
  const { input, want } = source(["alpha", "beta"], false);
  assert.equal(await want(0), "0 alpha");
  assert.equal(await want(0), "0 alpha");
  assert.equal(await want(5), "5 beta");
  assert.equal(input.keptBytes, 4);
  assert.equal(input.want(0, 0), false);
  assert.equal(await want(9), null);
  assert.equal(input.keptBytes, 0);
});

test("U1 the first rank that lives reads on where the dead one had come to", async () => {
  const { input, want } = source(["alpha", "beta", "gamma"], false);
  assert.equal(await want(0), "0 alpha");
  input.lost(0);
  assert.equal(await want(0, 2), "to 2: 0 beta");
  assert.equal(await want(4, 2), "to 2: 4 gamma");
  assert.equal(await want(9, 2), null);
  assert.equal(input.want(0, 5), false);
});

test("U1 a piece that a dead rank had asked for waits for the next reader", async () => {
  const stream = new Readable({ read() {} });
  const sent: InputPiece[] = [];
  const input = new InputSource({ stream, keeps: false, send: (piece) => sent.push(piece) });
  input.want(0, 0);
  input.lost(0);
  stream.push("alpha");
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(sent, []);
  input.want(1, 0);
  assert.deepEqual(sent, [{ rank: 1, offset: 0, bytes: Buffer.from("alpha") }]);
});
