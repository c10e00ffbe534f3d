/**
 * The checksum of words (core/base/word-checksum.ts), with vectors for many of them, which are copied into the memory of the WebAssembly
 * module: in JavaScript, where every load of a word is checked, 64 KiB take 23 µs (Neoverse-N1).
 */
import { checksumBy, type WordChecksum } from "../../core/base/word-checksum.ts";
import moduleBytes from "./vector-checksum.wat";

const lanes = 16;
const stageWords = 1 << 14;
const pages = 2;

interface ChecksumCalls {
  pass(bytes: number): void;
}

export function newVectorChecksum(): WordChecksum {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes), { checksum: { memory } });
  const { pass } = exports as unknown as ChecksumCalls;
  const stage = new Int32Array(memory.buffer);
  const ownStates = stage.subarray(0, lanes);
  return checksumBy((words, first, end, states) => {
    ownStates.set(states);
    for (let from = first; from < end; from += stageWords) {
      const part = words.subarray(from, Math.min(from + stageWords, end));
      stage.set(part, lanes);
      pass(4 * part.length);
    }
    states.set(ownStates);
  });
}
