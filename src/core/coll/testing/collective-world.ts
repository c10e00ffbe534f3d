/**
 * A small world for the tests of this folder: p executors in one thread and a network that delivers in an order drawn from a
 * seed. Half of the messages are copied when sent, half are read from the sender's buffer only when they are received, so that
 * a schedule that touches a buffer too early is caught. Scratch memory and results begin with rubbish.
 *
 * A run fails if it gets stuck, if a message is left over or has another length than its receive, if anything is touched
 * outside its buffer, or if records or scratch memory are left behind.
 */
import { restoreState } from "../../../image/state/restore-state.ts";
import { saveState } from "../../../image/state/save-state.ts";
import type { Pointer, RecordId } from "../../base/brand.ts";
import { SeededRandom } from "../../base/seeded-random.ts";
import { type CollectivePorts, underWay } from "../engine/collective-ports.ts";
import { compileSchedule } from "../engine/compiled-schedule.ts";
import { Executor } from "../engine/executor.ts";
import type { Operation, OperationId } from "../engine/operation.ts";
import type { Schedule } from "../engine/schedule.ts";
import { checkMatching } from "./matching-sends.ts";

/** One operation on one rank. A buffer left out must not be touched. */
export interface Setup {
  readonly schedule: Schedule;
  readonly send?: Uint8Array;
  readonly receive?: Uint8Array;
  readonly channel?: number;
  readonly tag?: number;
}

/** into = left ∘ right; `into` may be one of the two. */
export type Combine = (left: Uint8Array, right: Uint8Array, into: Uint8Array) => void;

export interface CollectiveWorldOptions {
  readonly seed?: number;
  readonly combine?: Combine;
  /** Combinations are left to the program, which does them later. */
  readonly deferReductions?: boolean;
  /** Called when an operation is over. */
  readonly finished?: (rank: number, request: number) => void;
  /** For an inter-communicator: the number of ranks in its first group. Ranks here count through both groups. */
  readonly firstGroup?: number;
}

export interface Message {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

export function random(seed: number): (below: number) => number {
  const random = new SeededRandom(seed);
  return (below) => random.bits() % below;
}

export function rubbish(bytes: number): Uint8Array {
  return new Uint8Array(bytes).fill(0xa5);
}

/** A message on one side: a send or a receive. */
class Record {
  state: "under way" | "complete" | "collected" = "under way";
  error = 0;
  readonly rank: number;
  readonly peer: number;
  readonly channel: number;
  readonly tag: number;
  /** The buffer; of a send that was copied, the copy. */
  readonly bytes: Uint8Array;

  constructor(rank: number, peer: number, { channel, tag }: Operation, bytes: Uint8Array) {
    this.rank = rank;
    this.peer = peer;
    this.channel = channel;
    this.tag = tag;
    this.bytes = bytes;
  }
}

const empty = new Uint8Array(0);

/** Buffers are as far apart: a place behind a buffer is in no other one. */
const bufferBytesMax = 2 ** 32;

export class CollectiveWorld {
  readonly messages: Message[] = [];
  readonly executors: Executor[];
  readonly #ports: readonly CollectivePorts[];
  /** Requests of the operations that are over, with their errors, for each rank. */
  readonly finished: Map<number, number>[];
  readonly #records: Record[] = [];
  readonly #posted: Record[][];
  readonly #unexpected: Record[][];
  /** Sends on the way, by channel from · p + to. */
  readonly #channels = new Map<number, Record[]>();
  readonly #busyChannels: number[] = [];
  readonly #wokenRanks: number[] = [];
  readonly #isWoken: boolean[];
  /** Combinations that wait for the program. */
  readonly #deferred: { rank: number; id: OperationId; regions: [Uint8Array, Uint8Array, Uint8Array] }[] = [];
  readonly #buffers: (Uint8Array | undefined)[][];
  readonly #options: CollectiveWorldOptions;
  readonly #random: (below: number) => number;
  readonly size: number;

  constructor(size: number, options: CollectiveWorldOptions = {}) {
    this.size = size;
    this.#options = options;
    this.#random = random(options.seed ?? 1);
    const ranks = Array.from({ length: size }, (_, rank) => rank);
    this.#posted = ranks.map(() => []);
    this.#unexpected = ranks.map(() => []);
    this.#buffers = ranks.map(() => []);
    this.#isWoken = ranks.map(() => false);
    this.finished = ranks.map(() => new Map());
    this.#ports = ranks.map((rank) => this.#portsOf(rank));
    this.executors = this.#ports.map((ports) => new Executor(ports));
  }

  lend(rank: number, view: Uint8Array | undefined): Pointer {
    return ((this.#buffers[rank]!.push(view) - 1) * bufferBytesMax) as Pointer;
  }

  start(rank: number, request: number, { schedule, send, receive, channel = 0, tag = 0 }: Setup): void {
    this.executors[rank]!.start({
      program: compileSchedule(schedule),
      channel,
      tag,
      turn: 0,
      reduction: 0,
      request,
      send: this.lend(rank, send),
      receive: this.lend(rank, receive),
      exact: true,
      error: 0,
    });
  }

  /** Delivers, progresses and combines in random order until nothing moves any more, or for so many steps. */
  settle(stepsMax = Number.POSITIVE_INFINITY): void {
    for (let step = 0; step < stepsMax; step++) {
      const woken = this.#wokenRanks.length;
      const busy = this.#busyChannels.length;
      const deferred = this.#deferred.length;
      if (woken + busy + deferred === 0) return;
      const choice = this.#random(woken + busy + deferred);
      if (choice < busy) this.#deliver(choice);
      else if (choice < busy + woken) this.#progress(choice - busy);
      else this.#combine(choice - busy - woken);
    }
  }

  /** The process is captured, and goes on from the image. */
  captureAndRestore(rank: number): void {
    const ports = this.#ports[rank]!;
    const image = saveState({ executor: this.executors[rank]! }, new Map([[ports, "ports"]]));
    const executor = new Executor(ports);
    restoreState(image, { executor }, new Map([["ports", ports]]));
    this.executors[rank] = executor;
  }

  /** Every operation is over and nothing is left behind. */
  checkClean(): void {
    const stuck = this.executors.flatMap((executor, rank) => (executor.active > 0 ? [rank] : []));
    if (stuck.length > 0) throw new Error(`ranks ${stuck.join(" ")} of ${this.size} are stuck`);
    const left = this.#records.filter((record) => record.state !== "collected").length;
    if (left > 0) throw new Error(`${left} messages are left over`);
    for (const unexpected of this.#unexpected)
      if (unexpected.length > 0) throw new Error("a message was never received");
  }

  /** The peer is dead: what was to come from it and go to it ends with the error. */
  kill(dead: number, error: number): void {
    for (const record of this.#records) {
      if (record.peer === dead && record.rank !== dead) this.#complete(record, error);
    }
    for (const posted of this.#posted) remove(posted, (record) => record.state !== "under way");
    for (const unexpected of this.#unexpected)
      remove(unexpected, (record) => record.rank === dead || record.peer === dead);
    for (const queue of this.#channels.values())
      remove(queue, (record) => record.rank === dead || record.peer === dead);
    remove(this.#busyChannels, (channel) => this.#channels.get(channel)!.length === 0);
  }

  #progress(index: number): void {
    const rank = takeAt(this.#wokenRanks, index);
    this.#isWoken[rank] = false;
    this.executors[rank]!.progress();
  }

  #deliver(index: number): void {
    const key = this.#busyChannels[index]!;
    const queue = this.#channels.get(key)!;
    const send = queue.shift()!;
    if (queue.length === 0) takeAt(this.#busyChannels, index);
    const posted = this.#posted[send.peer]!;
    const at = posted.findIndex((receive) => matches(send, receive));
    if (at < 0) this.#unexpected[send.peer]!.push(send);
    else this.#match(send, posted.splice(at, 1)[0]!);
  }

  #match(send: Record, receive: Record): void {
    if (send.bytes.length !== receive.bytes.length) {
      const what = `${send.bytes.length} bytes from ${send.rank} met a receive of ${receive.bytes.length} on ${receive.rank}`;
      throw new Error(what);
    }
    receive.bytes.set(send.bytes);
    this.#complete(receive, 0);
    this.#complete(send, 0);
  }

  #complete(record: Record, error: number): void {
    if (record.state !== "under way") return;
    record.state = "complete";
    record.error = error;
    this.#wake(record.rank);
  }

  #wake(rank: number): void {
    if (this.#isWoken[rank]) return;
    this.#isWoken[rank] = true;
    this.#wokenRanks.push(rank);
  }

  #combine(index: number): void {
    const { rank, id, regions } = takeAt(this.#deferred, index);
    this.#options.combine!(...regions);
    this.executors[rank]!.reduced(id);
    this.#wake(rank);
  }

  #peerOf(rank: number, peer: number, local: boolean): number {
    const first = this.#options.firstGroup;
    if (first === undefined) return peer;
    return rank < first === local ? peer : peer + first;
  }

  #view(rank: number, pointer: Pointer, within: number, bytes: number): Uint8Array {
    if (bytes === 0) return empty;
    const place = pointer + within;
    const buffer = this.#buffers[rank]![Math.floor(place / bufferBytesMax)];
    const offset = place % bufferBytesMax;
    if (buffer === undefined || offset < 0 || offset + bytes > buffer.length) {
      throw new Error(`rank ${rank} touches ${bytes} bytes at ${offset} of a buffer of ${buffer?.length}`);
    }
    return buffer.subarray(offset, offset + bytes);
  }

  #portsOf(rank: number): CollectivePorts {
    const message = (operation: Operation, peer: number, bytes: Uint8Array): RecordId =>
      (this.#records.push(new Record(rank, peer, operation, bytes)) - 1) as RecordId;
    return {
      begun() {},
      send: (operation, peer, local, pointer, offset, bytes) => {
        const buffer = this.#view(rank, pointer, offset, bytes);
        const copied = this.#random(2) === 0;
        const id = message(operation, this.#peerOf(rank, peer, local), copied ? buffer.slice() : buffer);
        const record = this.#records[id]!;
        this.messages.push({ from: rank, to: record.peer, bytes });
        const key = rank * this.size + record.peer;
        let queue = this.#channels.get(key);
        if (queue === undefined) {
          queue = [];
          this.#channels.set(key, queue);
        }
        if (queue.push(record) === 1) this.#busyChannels.push(key);
        if (copied) this.#complete(record, 0);
        return id;
      },
      receive: (operation, peer, local, pointer, offset, bytes) => {
        const id = message(operation, this.#peerOf(rank, peer, local), this.#view(rank, pointer, offset, bytes));
        const record = this.#records[id]!;
        const unexpected = this.#unexpected[rank]!;
        const at = unexpected.findIndex((send) => matches(send, record));
        if (at < 0) this.#posted[rank]!.push(record);
        else this.#match(unexpected.splice(at, 1)[0]!, record);
        return id;
      },
      complete: (_operation, id) => {
        const record = this.#records[id]!;
        if (record.state === "collected") throw new Error("a record was asked about after it had been given back");
        if (record.state === "under way") return underWay;
        record.state = "collected";
        return record.error;
      },
      cancel: (id) => {
        const record = this.#records[id]!;
        const posted = this.#posted[rank]!;
        if (!posted.includes(record)) return;
        remove(posted, (other) => other === record);
        this.#complete(record, 1);
      },
      copy: (to, toOffset, from, fromOffset, bytes) => {
        this.#view(rank, to, toOffset, bytes).set(this.#view(rank, from, fromOffset, bytes));
      },
      reduce: ({ id }, left, right, into, bytes) => {
        const a = this.#view(rank, left, 0, bytes);
        const b = this.#view(rank, right, 0, bytes);
        const c = this.#view(rank, into, 0, bytes);
        if (this.#options.deferReductions) this.#deferred.push({ rank, id, regions: [a, b, c] });
        else this.#options.combine!(a, b, c);
        return !this.#options.deferReductions;
      },
      allocate: (bytes) => this.lend(rank, rubbish(bytes)),
      free: (pointer) => {
        const buffers = this.#buffers[rank]!;
        const number = pointer / bufferBytesMax;
        if (buffers[number] === undefined) throw new Error("scratch memory is freed twice");
        buffers[number] = undefined;
      },
      finished: ({ request }, error) => {
        if (this.finished[rank]!.has(request)) throw new Error("an operation was reported twice");
        this.finished[rank]!.set(request, error);
        this.#options.finished?.(rank, request);
      },
    };
  }
}

const matches = (send: Record, receive: Record): boolean =>
  send.rank === receive.peer && send.channel === receive.channel && send.tag === receive.tag;

/** Takes an item out; the last one takes its place. */
function takeAt<Item>(items: Item[], index: number): Item {
  const item = items[index]!;
  const last = items.pop()!;
  if (index < items.length) items[index] = last;
  return item;
}

function remove<Item>(items: Item[], which: (item: Item) => boolean): void {
  for (let index = items.length - 1; index >= 0; index--) if (which(items[index]!)) items.splice(index, 1);
}

/** Runs one collective, a setup for each rank, and returns the messages it took. */
export function run(setups: readonly Setup[], options: CollectiveWorldOptions = {}): Message[] {
  checkMatching(
    setups.map((setup) => setup.schedule),
    options.firstGroup,
  );
  const world = new CollectiveWorld(setups.length, options);
  const before = setups.map((setup) => setup.send?.slice());
  for (const [rank, setup] of setups.entries()) world.start(rank, 0, setup);
  world.settle();
  world.checkClean();
  for (const [rank, { send }] of setups.entries()) {
    if (send !== undefined && !equal(send, before[rank]!)) throw new Error(`rank ${rank} changed its send buffer`);
  }
  return world.messages;
}

export function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
