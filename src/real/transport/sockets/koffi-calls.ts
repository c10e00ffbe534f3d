/**
 * Socket calls through koffi. An address is a number, computed from the base of the node's memory: 255 ns for a `recv` that
 * finds nothing, against 400 ns when a view is passed (x86-64, Node 20), of which the system call itself is about 100.
 *
 * Loading koffi costs a worker about 10 ms, so it is loaded when the first connection is there, not before.
 */
import { ViewAddresses } from "../../machine/view-addresses.ts";
import {
  assertInside,
  CLOSED,
  type SocketCalls,
  type SocketCallsOptions,
  WOULD_BLOCK,
  waitMsMax,
} from "./socket-calls.ts";

const EINTR = 4;
const EAGAIN = 11;
const ENOMEM = 12;
const ENOBUFS = 105;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const MSG_MORE = 0x8000;
const EPOLLIN = 1;
const EPOLLOUT = 4;
const EPOLL_CTL_ADD = 1;
const EPOLL_CTL_DEL = 2;
const EPOLL_CTL_MOD = 3;
const CLOSE_ON_EXEC = 0o2000000;
const NON_BLOCKING = 0o4000;

/** `struct epoll_event` is packed on x86-64 only. */
const eventBytes = process.arch === "x64" ? 12 : 16;
const eventsMax = 60;
/** Parts of the scratch space: one event for `epoll_ctl`, eight bytes for the eventfd, events from `epoll_wait`. */
const controlAt = 0;
const counterAt = 16;
const eventsAt = 32;

const sendFlags = (more: boolean): number => MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);

export class KoffiCalls implements SocketCalls {
  readonly name = "koffi";
  readonly wakeFd: number;
  /** The epoll descriptor: it is itself readable when one of its sockets is. */
  readonly readyFd: number;
  readonly #words: Int32Array;
  readonly #scratch: number;
  readonly #base: number;
  /** Of the node's memory. */
  readonly #bytes: number;
  readonly #errno: () => number;
  readonly #send: (fd: number, at: number, bytes: number, flags: number) => number;
  readonly #receive: (fd: number, at: number, bytes: number, flags: number) => number;
  readonly #views: ViewAddresses;
  readonly #read: (fd: number, at: number, bytes: number) => number;
  readonly #epollControl: (epoll: number, operation: number, fd: number, event: number) => number;
  readonly #epollWait: (epoll: number, events: number, max: number, timeoutMs: number) => number;
  readonly #close: (fd: number) => number;
  readonly #poll: typeof import("koffi").node.poll;

  constructor({ memory, scratch }: SocketCallsOptions) {
    const koffi = require("koffi") as typeof import("koffi");
    const bytes = new Uint8Array(memory.buffer);
    // The symbols of the process itself: the C library under whatever name.
    const library = koffi.load(null);
    this.#words = new Int32Array(memory.buffer);
    this.#scratch = scratch;
    this.#base = Number(koffi.address(bytes));
    this.#bytes = bytes.length;
    this.#errno = koffi.errno;
    this.#poll = koffi.node.poll;
    this.#send = library.func("int send(int, int64_t, int, int)");
    this.#receive = library.func("int recv(int, int64_t, int, int)");
    this.#views = new ViewAddresses(koffi);
    this.#read = library.func("int read(int, int64_t, int)");
    this.#epollControl = library.func("int epoll_ctl(int, int, int, int64_t)");
    this.#epollWait = library.func("int epoll_wait(int, int64_t, int, int)");
    this.#close = library.func("int close(int)");
    this.readyFd = library.func("int epoll_create1(int)")(CLOSE_ON_EXEC);
    this.wakeFd = library.func("int eventfd(int, int)")(0, CLOSE_ON_EXEC | NON_BLOCKING);
    this.#control(EPOLL_CTL_ADD, this.wakeFd, EPOLLIN);
  }

  #control(operation: number, fd: number, events: number): void {
    const event = (this.#scratch + controlAt) >> 2;
    this.#words[event] = events;
    this.#words[event + (eventBytes === 12 ? 1 : 2)] = fd;
    this.#epollControl(this.readyFd, operation, fd, this.#base + this.#scratch + controlAt);
  }

  open(fd: number): void {
    this.#control(EPOLL_CTL_ADD, fd, EPOLLIN);
  }

  close(fd: number): void {
    this.#control(EPOLL_CTL_DEL, fd, 0);
  }

  #outcome(result: number): number {
    if (result > 0) return result;
    if (result === 0) return CLOSED;
    const errno = this.#errno();
    return errno === EAGAIN || errno === EINTR || errno === ENOBUFS || errno === ENOMEM ? WOULD_BLOCK : CLOSED;
  }

  /** A native call takes an address on trust: this is where all of them are made. */
  #addressOf(at: number, bytes: number): number {
    assertInside(at, bytes, this.#bytes);
    return this.#base + at;
  }

  send(fd: number, at: number, bytes: number, more = false): number {
    return this.#outcome(this.#send(fd, this.#addressOf(at, bytes), bytes, sendFlags(more)));
  }

  receive(fd: number, at: number, bytes: number): number {
    return this.#outcome(this.#receive(fd, this.#addressOf(at, bytes), bytes, MSG_DONTWAIT));
  }

  sendView(fd: number, view: Uint8Array, offset: number, bytes: number, more = false): number {
    assertInside(offset, bytes, view.length);
    return this.#outcome(this.#send(fd, this.#views.of(view, offset), bytes, sendFlags(more)));
  }

  receiveView(fd: number, view: Uint8Array, offset: number, bytes: number): number {
    assertInside(offset, bytes, view.length);
    return this.#outcome(this.#receive(fd, this.#views.of(view, offset), bytes, MSG_DONTWAIT));
  }

  watchWritable(fd: number, watch: boolean): void {
    this.#control(EPOLL_CTL_MOD, fd, watch ? EPOLLIN | EPOLLOUT : EPOLLIN);
  }

  /** The events are moved to the front of their space as plain descriptors, the eventfd's own is taken out. */
  wait(timeoutMs: number): number {
    const at = this.#scratch + eventsAt;
    const found = this.#epollWait(this.readyFd, this.#base + at, eventsMax, Math.min(timeoutMs, waitMsMax));
    if (found <= 0) return 0;
    const words = this.#words;
    const first = at >> 2;
    let ready = 0;
    for (let i = 0; i < found; i++) {
      const fd = words[first + (i * eventBytes + (eventBytes === 12 ? 4 : 8)) / 4]!;
      if (fd === this.wakeFd) this.#read(fd, this.#base + this.#scratch + counterAt, 8);
      else words[first + ready++] = fd;
    }
    return ready;
  }

  readyAt(index: number): number {
    return this.#words[((this.#scratch + eventsAt) >> 2) + index]!;
  }

  onReady(callback: () => void): (() => void) | null {
    const handle = this.#poll(this.readyFd, { readable: true }, () => {
      handle.stop();
      callback();
    });
    return () => handle.close();
  }

  /** The eventfd stays: a neighbour may be about to write to it, and its number could be another file's by then. */
  end(): void {
    this.#close(this.readyFd);
  }
}
