/**
 * System calls on sockets from a rank's own thread: five times faster than the event loop. A port with two
 * implementations: koffi-calls.ts (foreign-function calls, Linux) and wasi-calls.ts (`node:wasi`, in every Node).
 * Both pass socket-calls.test.ts.
 *
 * Contract:
 * 1. Descriptors are non-blocking sockets that belong to the node's main thread. They are announced by `open` before their
 *    first use and by `close` after their last; `close` only forgets, it never closes the descriptor.
 * 2. Nothing blocks except `wait`, for at most `waitMsMax`: a thread in a system call cannot be terminated.
 * 3. No call is given bytes outside the memory or the view: that is asserted, and the process stops (`assertInside`).
 * 4. Nothing else throws. An outcome is a positive number of bytes, `WOULD_BLOCK` or `CLOSED`; the end of the stream is CLOSED
 *    and so is every error a socket can have, because the answer to all of them is the same: connect again.
 */
import { assert } from "../../../core/base/assert.ts";

export const WOULD_BLOCK = -1;
export const CLOSED = -2;

/** Longest time in one call of `wait`. */
export const waitMsMax = 100;

export interface SocketCalls {
  readonly name: "koffi" | "wasi";

  open(fd: number): void;
  close(fd: number): void;

  /** From and to `at`, a byte offset in the node's memory. `more`: another send follows at once, they may leave together. */
  send(fd: number, at: number, bytes: number, more?: boolean): number;
  receive(fd: number, at: number, bytes: number): number;

  /** From and to bytes of an ordinary view. May take less than a plain `send` would. */
  sendView(fd: number, view: Uint8Array, offset: number, bytes: number, more?: boolean): number;
  receiveView(fd: number, view: Uint8Array, offset: number, bytes: number): number;

  /** Shall `wait` also report this descriptor when it can be written? */
  watchWritable(fd: number, watch: boolean): void;
  /**
   * Waits until an open descriptor can be used or another thread writes `wakeFd`, at most that long. How many of them are ready, see
   * `readyAt`; −1 when this implementation cannot tell: it has returned at once, and the caller tries each.
   */
  wait(timeoutMs: number): number;
  readyAt(index: number): number;

  /** Calls back once, from the event loop, when an open descriptor can be read; the result ends the watch. `null`: it cannot. */
  onReady(callback: () => void): (() => void) | null;

  /** Descriptor of an eventfd: eight bytes written to it (a 1) end `wait`. −1: none. */
  readonly wakeFd: number;

  /** A descriptor that can be read when `wait` would find something. −1: none. */
  readonly readyFd: number;

  /** Closes the descriptors that the implementation itself opened. */
  end(): void;
}

/** The system takes addresses and lengths on trust. */
export function assertInside(at: number, bytes: number, length: number): void {
  assert(at >= 0 && bytes >= 0 && at + bytes <= length, "a socket call reaches outside the memory it was given");
}

/** Bytes of the node's memory an implementation uses for arguments. */
export const scratchBytes = 1024;

export interface SocketCallsOptions {
  readonly memory: WebAssembly.Memory;
  /** Byte offset of `scratchBytes` bytes of that memory, aligned to 16. */
  readonly scratch: number;
}
