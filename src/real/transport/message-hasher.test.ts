/** D1: vectors and plain loops say the same of all bytes. */
import { equal, notEqual } from "node:assert/strict";
import { test } from "node:test";
import { splitmix32 } from "../../core/base/splitmix-32.ts";
import { bytesHash } from "../../core/ft/replication/comparing/message-hash.ts";
import { messageHasher } from "./message-hasher.ts";

const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
const words = new Int32Array(memory.buffer);
const view = new DataView(memory.buffer);
const hash = messageHasher(memory);

test("D1 the hash of a message is the same in WebAssembly, at every length and place", () => {
  for (let at = 0; at < words.length; at++) words[at] = splitmix32(at);
  for (let length = 0; length < 200; length++) {
    for (const from of [0, 1, 4, 7, 32, 60_001]) {
      equal(hash(from, length), bytesHash({ view, words }, from, length), `${length} bytes at ${from}`);
    }
  }
  for (const length of [4_095, 4_096, 4_097, 50_000]) {
    equal(hash(64, length), bytesHash({ view, words }, 64, length), `${length} bytes`);
  }
});

test("D1 NaNs in some stretches of a message and not in others", () => {
  const length = 5 * 4_096 + 1_000;
  for (const nans of [[0], [1_023], [1_024], [1_030, 4_099], [5_119], [5_125, 5_126, 5_127]]) {
    for (const word of [0x7fc00000, 0x7ff80000]) {
      words.fill(7, 0, 6_000);
      for (const at of nans) words[at] = word;
      const positive = hash(0, length);
      equal(positive, bytesHash({ view, words }, 0, length), `at ${nans}`);
      for (const at of nans) words[at] = word | 0x80000000;
      equal(hash(0, length), positive, `negative, at ${nans}`);
      words[nans[0]!] = word + 1;
      notEqual(hash(0, length), positive);
      equal(hash(0, length), bytesHash({ view, words }, 0, length));
    }
  }
});

test("D1 the sign of a NaN, and no other sign, is left out in WebAssembly, in vectors and behind them", () => {
  for (const word of [0x7fc00000, 0x7ff80000, 0x7ff80001, 0x3ff00000, 0x7f800000, 0]) {
    for (let at = 0; at < 31; at++) {
      words.fill(5, 0, 31);
      words[at] = word;
      const positive = hash(0, 124);
      equal(positive, bytesHash({ view, words }, 0, 124));
      words[at] = word | 0x80000000;
      equal(hash(0, 124), bytesHash({ view, words }, 0, 124));
      equal(
        hash(0, 124) === positive,
        word === 0x7fc00000 || word === 0x7ff80000,
        `${word.toString(16)} at word ${at}`,
      );
    }
  }
});
