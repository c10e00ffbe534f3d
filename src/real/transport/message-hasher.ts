/** Hashes of messages in a memory of WebAssembly, at about 9 GB/s (`bytesHash` says what they are). */
import hashModule from "./message-hash.wat";

export type MessageHasher = (at: number, bytes: number) => number;

let compiled: WebAssembly.Module | undefined;

export function messageHasher(memory: WebAssembly.Memory): MessageHasher {
  compiled ??= new WebAssembly.Module(hashModule);
  return new WebAssembly.Instance(compiled, { memory: { memory } }).exports["hash"] as MessageHasher;
}
