/**
 * A fuzzer of the C library's calls: random calls of every import of WASI, with right, nearly right and absurd arguments, on a real
 * folder beside which another one is watched. A call answers with an error number of WASI; it changes no byte of the program's
 * memory but those that it was told to write, no file outside of its folder, and nothing from there gets into the memory.
 */
import assert from "node:assert/strict";
import { TestDisk } from "../../abi/testing/disk.ts";
import { SeededRandom } from "../../core/base/seeded-random.ts";
import { Descriptors } from "../descriptors.ts";
import { Errno } from "../errno.ts";
import { ProgramBytes, textBytes } from "../memory.ts";
import type { Library } from "../ports.ts";
import { wasiImports } from "../wasi.ts";
import { WatchedFolder } from "./watched-folder.ts";

/**
 * Every import, as WASI preview 1 declares it. `out:8`: the address of a result of 8 bytes; `name` and `buffer`: an address whose
 * length is the next parameter; `vectors`: a list of pieces, whose number is the next parameter.
 */
const signatures: Readonly<Record<string, string>> = {
  args_sizes_get: "out:4 out:4",
  args_get: "texts texts",
  environ_sizes_get: "out:4 out:4",
  environ_get: "texts texts",
  clock_res_get: "small out:8",
  clock_time_get: "small time out:8",
  random_get: "buffer length",
  sched_yield: "",
  proc_exit: "small",
  proc_raise: "small",
  poll_oneoff: "subscriptions events small out:4",
  fd_write: "fd vectors count out:4",
  fd_read: "fd vectors count out:4",
  fd_pread: "fd vectors count place out:4",
  fd_pwrite: "fd vectors count place out:4",
  fd_seek: "fd place small out:8",
  fd_tell: "fd out:8",
  fd_close: "fd",
  fd_renumber: "fd fd",
  fd_sync: "fd",
  fd_datasync: "fd",
  fd_advise: "fd place place small",
  fd_allocate: "fd place place",
  fd_fdstat_get: "fd out:24",
  fd_fdstat_set_flags: "fd flags",
  fd_fdstat_set_rights: "fd rights rights",
  fd_filestat_get: "fd out:64",
  fd_filestat_set_size: "fd place",
  fd_filestat_set_times: "fd time time flags",
  fd_prestat_get: "fd out:8",
  fd_prestat_dir_name: "fd buffer length",
  fd_readdir: "fd buffer length place out:4",
  path_open: "fd small name length flags rights rights flags out:4",
  path_filestat_get: "fd small name length out:64",
  path_filestat_set_times: "fd small name length time time flags",
  path_create_directory: "fd name length",
  path_remove_directory: "fd name length",
  path_unlink_file: "fd name length",
  path_rename: "fd name length fd name length",
  path_link: "fd small name length fd name length",
  path_symlink: "name length fd name length",
  path_readlink: "fd name length buffer length out:4",
  sock_accept: "fd flags out:4",
  sock_recv: "fd vectors count flags out:4 out:4",
  sock_send: "fd vectors count flags out:4",
  sock_shutdown: "fd flags",
};

type Value = number | bigint;
type Range = readonly [from: number, to: number];

/** The program has called proc_exit. */
class Exited extends Error {}

const memoryBytes = 1 << 16;
/** Random openings hardly ever succeed, and without an open file most calls can only be refused: one is opened rightly now and then. */
const callsPerFile = 20;
const everyRight = 0x1fffffffn;
const [folderGiven, create] = [3, 1];
const [args, environment] = [
  ["program", "-x", "word"],
  ["A=b", "HOME=/"],
];
const badInts = [-1, -8, 0x7fffffff, -0x80000000, 0, 1 << 20];
const badLongs = [-1n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 52n, 2n ** 31n];

export class RandomCalls {
  readonly #random: SeededRandom;
  readonly #memory = new Uint8Array(memoryBytes);
  readonly #bytes = new ProgramBytes(this.#memory);
  readonly #outside = new WatchedFolder();
  readonly #disk: TestDisk;
  #descriptors: Descriptors;
  #calls: Readonly<Record<string, (...args: Value[]) => number>>;
  readonly #names: readonly Uint8Array[];
  /** By name of the call: how often it was made, and how often it succeeded. */
  readonly made = new Map<string, { all: number; good: number }>();
  /** Where the next argument is placed. */
  #free = 0;
  #nowNs = 1n;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    const disk = new TestDisk();
    this.#outside.prepare(disk.path);
    this.#names = this.#outside
      .namesFor(disk.path)
      .map((name) => (typeof name === "string" ? Buffer.from(name) : name));
    this.#disk = disk;
    [this.#descriptors, this.#calls] = this.#begin();
    assert.deepEqual(Object.keys(this.#calls).sort(), Object.keys(signatures).sort(), "the table has every call");
  }

  /** The open files and the imports of a program that begins. */
  #begin(): [Descriptors, Readonly<Record<string, (...args: Value[]) => number>>] {
    const { path, files } = this.#disk;
    const descriptors = new Descriptors(files, [{ name: "/", path }]);
    const pause = { untilNs: 0n };
    return [descriptors, wasiImports({ library: this.#library(), memory: this.#memory, descriptors, pause })];
  }

  #library(): Library {
    const { files } = this.#disk;
    return {
      run: "test",
      args,
      environment,
      files,
      steadyShiftNs: 0n,
      realTime: () => this.#nowNs++,
      steadyTime: () => this.#nowNs++,
      random: (bytes) => void bytes.fill(7),
      sleep: () => true,
      yield() {},
      write() {},
      awaitInput: () => true,
      read: (bytes) => bytes.fill(65, 0, Math.min(3, bytes.length)).length && Math.min(3, bytes.length),
      exit() {
        throw new Exited();
      },
    };
  }

  /** So many calls; throws when one of them does what it may not. */
  run(calls: number): void {
    const names = Object.keys(signatures);
    for (let i = 0; i < calls; i++) {
      if (i % callsPerFile === 0) this.#call(i, "path_open", this.#openingArguments());
      const name = this.#oneOf(names);
      this.#call(i, name, this.#arguments(name));
      if (i % 100 === 99) this.#outside.check();
      // A program that has closed its folder can do nothing more: another one begins.
      if (this.#descriptors.folders().length > 0) continue;
      this.end();
      [this.#descriptors, this.#calls] = this.#begin();
    }
    this.#outside.check();
  }

  end(): void {
    for (const [fd, descriptor] of this.#descriptors.all().entries()) if (descriptor) this.#descriptors.close(fd);
  }

  #call(number: number, name: string, args: readonly Value[]): void {
    const what = `call ${number}: ${name}(${args.join(", ")})`;
    const before = this.#memory.slice();
    const writable = this.#writable(name, args);
    let code = 0;
    try {
      code = this.#calls[name]!(...args);
    } catch (error) {
      assert(
        name === "proc_exit" && error instanceof Exited,
        `${what}: ${error instanceof Error ? error.stack : error}`,
      );
    }
    assert(Object.values<number>(Errno).includes(code), `${what} answered ${code}, which is no error number`);
    const count = this.made.get(name) ?? { all: 0, good: 0 };
    this.made.set(name, { all: count.all + 1, good: count.good + (code === 0 ? 1 : 0) });
    this.#compare(what, before, writable);
    this.#outside.checkMemory(what, this.#memory);
  }

  #compare(what: string, before: Uint8Array, writable: readonly Range[]): void {
    for (const [from, to] of writable) before.set(this.#memory.subarray(from, to), from);
    if (Buffer.compare(before, this.#memory) === 0) return;
    const at = before.findIndex((byte, i) => byte !== this.#memory[i]);
    assert.fail(`${what}: byte ${at} was changed, which is no part of a result`);
  }

  /** The parts of the memory that the call may write, with these arguments. */
  #writable(name: string, args: readonly Value[]): Range[] {
    const inside = (at: Value | undefined, bytes: number): Range[] => {
      const from = Number(at) >>> 0;
      return from !== 0 && from + bytes <= memoryBytes ? [[from, from + bytes]] : [];
    };
    const kinds = signatures[name]!.split(" ");
    return kinds.flatMap((kind, i): Range[] => {
      const next = Number(args[i + 1]) >>> 0;
      if (kind.startsWith("out:")) return inside(args[i], Number(kind.slice(4)));
      if (kind === "buffer") return inside(args[i], next);
      if (kind === "events") return inside(args[i], 32 * next);
      if (kind === "texts")
        return [...inside(args[0], 4 * textsOf(name).length), ...inside(args[1], textBytes(textsOf(name)))];
      if (kind !== "vectors" || next > 1024) return [];
      const list = Number(args[i]) >>> 0;
      if (list + 8 * next > memoryBytes || !/read|recv/.test(name)) return [];
      const pieces = Array.from({ length: next }, (_, piece) => list + 8 * piece);
      return pieces.flatMap((at) => inside(this.#bytes.u32(at), this.#bytes.u32(at + 4)));
    });
  }

  // Arguments

  /** Of the calls half are right, most others wrong in one place, and some wrong in many. */
  #arguments(name: string): Value[] {
    this.#free = 64;
    const kinds = signatures[name]! === "" ? [] : signatures[name]!.split(" ");
    const isWrong = this.#often(50);
    const wrong = isWrong ? this.#below(kinds.length + 1) : -1;
    const isAbsurd = isWrong && this.#often(25);
    const lengths: number[] = [];
    return kinds.map((kind, i) => this.#argument(kind, i === wrong || (isAbsurd && this.#often(40)), lengths));
  }

  /** Those of a `path_open` that is right in every place, as long as the program has its folder. */
  #openingArguments(): Value[] {
    this.#free = 64;
    const name = Buffer.from(`file-${this.#below(4)}`);
    const at = this.#place(name.length);
    this.#memory.set(name, at);
    return [folderGiven, 0, at, name.length, create, everyRight, everyRight, 0, this.#place(4)];
  }

  #argument(kind: string, isBad: boolean, lengths: number[]): Value {
    switch (kind) {
      case "fd":
        return this.#fd(isBad);
      case "place":
        return isBad ? this.#oneOf(badLongs) : BigInt(this.#below(3000));
      case "time":
        return isBad ? this.#oneOf(badLongs) : BigInt(this.#below(2 ** 31)) * 1_000_000_000n;
      case "rights":
        return isBad ? this.#oneOf(badLongs) : this.#oneOf([2n, 0x40n, 0x42n, 0x4000n, 0x1fffffffn]);
      case "flags":
        return isBad ? this.#oneOf(badInts) : this.#below(16);
      case "small":
        return isBad ? this.#oneOf(badInts) : this.#below(4);
      case "length":
      case "count":
        return isBad ? this.#oneOf([...badInts, (lengths.at(-1) ?? 0) + 1]) : (lengths.pop() ?? 0);
      case "name":
        return this.#name(isBad, lengths);
      case "vectors":
        return this.#vectors(isBad, lengths);
      case "subscriptions":
        return this.#subscriptions(isBad);
      default:
        return this.#room(kind, isBad, lengths);
    }
  }

  #room(kind: string, isBad: boolean, lengths: number[]): number {
    const bytes = kind.startsWith("out:") ? Number(kind.slice(4)) : kind === "buffer" ? this.#below(700) : 256;
    if (kind === "buffer") lengths.push(bytes);
    return isBad ? this.#badAddress(bytes) : this.#place(bytes);
  }

  #fd(isBad: boolean): number {
    if (isBad) return this.#oneOf([-1, 99, 0x7fffffff, -0x80000000, 1_000_000_000]);
    const open = this.#descriptors.all().flatMap((descriptor, fd) => (descriptor === undefined ? [] : [fd]));
    // The folder given is needed most: without it no name leads anywhere.
    return this.#often(50) || open.length === 0 ? 3 : this.#oneOf(open);
  }

  #name(isBad: boolean, lengths: number[]): number {
    const name = this.#oneOf(this.#names);
    lengths.push(name.length);
    if (isBad && this.#often(50)) return this.#badAddress(name.length);
    const at = this.#place(name.length + 1);
    this.#memory.set(name, at);
    return at;
  }

  #vectors(isBad: boolean, lengths: number[]): number {
    const count = this.#below(4);
    lengths.push(count);
    const list = this.#place(8 * count);
    for (let i = 0; i < count; i++) {
      const bytes = this.#below(300);
      const isWrong = isBad && this.#often(50);
      this.#bytes.putU32(list + 8 * i, isWrong ? this.#badAddress(bytes) >>> 0 : this.#place(bytes));
      this.#bytes.putU32(list + 8 * i + 4, isWrong && this.#often(30) ? this.#oneOf(badInts) >>> 0 : bytes);
    }
    return isBad && this.#often(40) ? this.#badAddress(8 * count) : list;
  }

  #subscriptions(isBad: boolean): number {
    const at = this.#place(48 * 4);
    for (let i = 0; i < 4; i++) {
      this.#memory[at + 48 * i + 8] = this.#below(4);
      this.#bytes.putU32(at + 48 * i + 16, isBad ? this.#oneOf(badInts) >>> 0 : this.#below(4));
      this.#bytes.view.setBigInt64(at + 48 * i + 24, isBad ? this.#oneOf(badLongs) : 5n, true);
      this.#bytes.putU16(at + 48 * i + 40, this.#below(2));
    }
    return isBad && this.#often(30) ? this.#badAddress(192) : at;
  }

  /** Bytes for this call, a little apart from the others. */
  #place(bytes: number): number {
    const at = (this.#free + 24) & ~7;
    this.#free = at + bytes;
    assert(this.#free + 24 <= memoryBytes, "the arguments of a call are too long");
    return at;
  }

  #badAddress(bytes: number): number {
    const across = memoryBytes - this.#below(Math.max(bytes, 1));
    return this.#oneOf([0, memoryBytes, across, -1, -8, 0x7fffffff, -0x80000000]);
  }

  #below(count: number): number {
    return Math.floor(this.#random.fraction() * count);
  }

  #often(percent: number): boolean {
    return this.#below(100) < percent;
  }

  #oneOf<T>(all: readonly T[]): T {
    return all[this.#below(all.length)]!;
  }
}

const textsOf = (name: string): readonly string[] => (name === "args_get" ? args : environment);
