/**
 * Socket calls without a foreign-function library: the descriptor is given to Node's own WASI as stdin and stdout, and
 * `fd_read` / `fd_write` do the plain system calls from this thread, straight into the node's memory. "Would block" comes
 * back as a number, not as an exception. One WASI instance for each socket (0.4 ms once); 440 ns for a read that
 * finds nothing.
 *
 * Limits: no `poll`, so an idle thread naps and looks; ordinary views go through a stage in the node's memory.
 */
import { WASI } from "node:wasi";
import { ViewCopy } from "../../machine/view-copy.ts";
import {
  assertInside,
  CLOSED,
  type SocketCalls,
  type SocketCallsOptions,
  scratchBytes,
  WOULD_BLOCK,
} from "./socket-calls.ts";

type Transfer = (descriptor: number, vectors: number, count: number, moved: number) => number;
interface Instance {
  readonly read: Transfer;
  readonly write: Transfer;
}

const WASI_EAGAIN = 6;
const WASI_EINTR = 27;
const WASI_NOBUFS = 42;
/** Parts of the scratch space: a vector (address, length), the number of bytes moved, then a stage for views. */
const vectorAt = 0;
const movedAt = 8;
const stageAt = 16;

interface WasiCallsOptions extends SocketCallsOptions {
  /** Bytes at `scratch`: the more, the fewer calls for ordinary views. */
  readonly scratchBytes?: number;
}

export class WasiCalls implements SocketCalls {
  readonly name = "wasi";
  readonly wakeFd = -1;
  readonly readyFd = -1;
  readonly #memory: WebAssembly.Memory;
  readonly #words: Int32Array;
  readonly #copy: ViewCopy;
  readonly #scratch: number;
  readonly #stageBytes: number;
  readonly #instances = new Map<number, Instance>();
  /** The instance used last: most threads talk to one peer at a time. */
  #lastFd = -1;
  #last: Instance | undefined;

  constructor(options: WasiCallsOptions) {
    this.#memory = options.memory;
    this.#words = new Int32Array(options.memory.buffer);
    this.#copy = new ViewCopy(new Uint8Array(options.memory.buffer));
    this.#scratch = options.scratch;
    this.#stageBytes = (options.scratchBytes ?? scratchBytes) - stageAt;
  }

  open(fd: number): void {
    const wasi = new WASI({ version: "preview1", stdin: fd, stdout: fd });
    wasi.initialize({ exports: { memory: this.#memory } });
    const calls = wasi.wasiImport as Record<string, Transfer>;
    this.#instances.set(fd, { read: calls["fd_read"]!, write: calls["fd_write"]! });
    this.#lastFd = -1;
  }

  close(fd: number): void {
    this.#instances.delete(fd);
    this.#lastFd = -1;
  }

  #instance(fd: number): Instance | undefined {
    if (fd !== this.#lastFd) {
      this.#last = this.#instances.get(fd);
      this.#lastFd = fd;
    }
    return this.#last;
  }

  #transfer(call: Transfer, descriptor: number, at: number, bytes: number): number {
    assertInside(at, bytes, this.#words.byteLength);
    const words = this.#words;
    const vector = this.#scratch + vectorAt;
    words[vector >> 2] = at;
    words[(vector >> 2) + 1] = bytes;
    const error = call(descriptor, vector, 1, this.#scratch + movedAt);
    if (error === WASI_EAGAIN || error === WASI_EINTR || error === WASI_NOBUFS) return WOULD_BLOCK;
    const moved = words[(this.#scratch + movedAt) >> 2]!;
    return error !== 0 || moved === 0 ? CLOSED : moved;
  }

  send(fd: number, at: number, bytes: number): number {
    const instance = this.#instance(fd);
    return instance === undefined ? CLOSED : this.#transfer(instance.write, 1, at, bytes);
  }

  receive(fd: number, at: number, bytes: number): number {
    const instance = this.#instance(fd);
    return instance === undefined ? CLOSED : this.#transfer(instance.read, 0, at, bytes);
  }

  sendView(fd: number, view: Uint8Array, offset: number, bytes: number): number {
    assertInside(offset, bytes, view.length);
    const stage = this.#scratch + stageAt;
    const length = Math.min(bytes, this.#stageBytes);
    this.#copy.toShared(stage, view, offset, length);
    return this.send(fd, stage, length);
  }

  receiveView(fd: number, view: Uint8Array, offset: number, bytes: number): number {
    assertInside(offset, bytes, view.length);
    const stage = this.#scratch + stageAt;
    const moved = this.receive(fd, stage, Math.min(bytes, this.#stageBytes));
    if (moved > 0) this.#copy.fromShared(view, offset, stage, moved);
    return moved;
  }

  watchWritable(): void {}

  wait(): number {
    return -1;
  }

  readyAt(): number {
    return -1;
  }

  onReady(): null {
    return null;
  }

  end(): void {
    this.#instances.clear();
  }
}
