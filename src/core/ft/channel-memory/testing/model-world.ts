/**
 * A world for exhaustive exploration: the protocol and the memories that ship, and in the place of an engine a program of a few words,
 * whose messages say all that it has seen. Nothing happens by itself: words move, ranks run and processes crash when the explorer says so.
 *
 * The world watches the two properties of the paper: what a life has shown to others is what every later life does (logging), and nobody
 * is given a message of a life that repeats it (silent re-execution).
 */
import { assert } from "../../../base/assert.ts";
import type { Pointer, RecordId } from "../../../base/brand.ts";
import { Arrival, type KeptMessage, Went } from "../../../request/decisions.ts";
import {
  R_FLAGS,
  R_MODE,
  R_POINTER,
  R_PROTOCOL,
  R_SEQUENCE,
  RecordFlag,
  RecordKind,
  Records,
  SendMode,
} from "../../../request/records.ts";
import { SEQUENCE, SOURCE } from "../../../wire/packet.ts";
import { ChoiceKind } from "../../choices.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import { newNoPass } from "../../testing/no-pass.ts";
import type { ChannelMemoryOptions, ChannelMemoryProtocol } from "../channel-memory-protocol.ts";
import { DirectEnd } from "./direct-end.ts";
import { ModelMemory } from "./model-memory.ts";
import { smallLimits, TestedMemory } from "./tested-memory.ts";

/** What a program does, one after the other: it sends to a rank, receives from anybody, looks whether something has come, prints. */
export type Step = ["send" | "ssend", number] | ["recv"] | ["poll"] | ["print"];

export type NewModelProtocol = (options: ChannelMemoryOptions, ports: ProtocolPorts) => ChannelMemoryProtocol;

/** A message that has come, in the order of its coming; `keeper` −1: its value is here. */
interface Come {
  readonly source: number;
  readonly sequence: number;
  readonly value: number;
  readonly keeper: number;
}

const valueBytes = 4;

/** One life of a rank. */
class Worker {
  readonly rank: number;
  readonly incarnation: number;
  readonly ends: readonly DirectEnd[];
  readonly history: number[] = [];
  readonly #world: ModelWorld;
  readonly #program: readonly Step[];
  readonly #protocol: ChannelMemoryProtocol;
  readonly #records = new Records();
  readonly #memory = new ModelMemory();
  readonly #come: Come[] = [];
  readonly #numbers = new Map<number, number>();
  readonly #complete = new Set<number>();
  #waitsFor: RecordId | null = null;
  #receiving: RecordId | null = null;
  #at = 0;
  #lines = 0;

  constructor(world: ModelWorld, rank: number, incarnation: number) {
    this.#world = world;
    this.rank = rank;
    this.incarnation = incarnation;
    this.#program = world.programs[rank]!;
    this.ends = world.memories.map(({ memory, origin }) => {
      const end = new DirectEnd(rank, incarnation);
      end.connect(memory, origin);
      return end;
    });
    const options = { ends: this.ends, limits: smallLimits, marked: () => {} };
    this.#protocol = world.newProtocol(options, this.#ports());
    const incarnations = world.programs.map(() => 0);
    this.#protocol.begin({ incarnation, incarnations, data: undefined, caughtUp: () => {} });
  }

  get isDone(): boolean {
    return this.#at === this.#program.length && !this.#protocol.isBusy;
  }

  /** All that distinguishes it from another. */
  get digest(): unknown {
    const ends = this.ends.map(({ digest }) => digest);
    return [this.incarnation, this.#at, this.history, this.#come, [...this.#complete], ends];
  }

  #ports(): ProtocolPorts {
    const none = (): never[] => [];
    return {
      rank: this.rank,
      ranks: this.#world.programs.length,
      records: this.#records,
      memory: this.#memory,
      pass: newNoPass(),
      transmit: (message, keeper) => this.#arrive(message, keeper),
      transmitNow: () => false,
      isEager: ({ isSynchronous }) => !isSynchronous,
      shares: () => false,
      complete: (send) => void this.#complete.add(send),
      tell: () => {},
      toldBytesMax: () => 0,
      toldBytes: () => new Uint8Array(0),
      place: () => {},
      route: () => {},
      peerLost: () => {},
      peerBack: () => {},
      pinPosted: () => {},
      pinWaiting: () => {},
      isBroken: () => false,
      brokenFrom: none,
      incompleteFrom: none,
      becomes: () => {},
      forEachOpen: () => {},
      letIn: () => {},
      spoil: () => {},
      revoked: () => {},
    };
  }

  #arrive(message: KeptMessage, keeper: number): Went {
    const source = message.from?.rank ?? this.rank;
    const { sequence, bytes, pointer, isSynchronous } = message;
    const packet = new Int32Array(8);
    packet[SOURCE] = source;
    packet[SEQUENCE] = sequence;
    assert(this.#protocol.arrived(packet, 0) === Arrival.TAKE, "every message is new");
    const value = isSynchronous ? 0 : valueIn(this.#memory.view(pointer, bytes));
    this.#come.push({ source, sequence, value, keeper: isSynchronous ? keeper : -1 });
    return isSynchronous ? Went.ENVELOPE : Went.WHOLE;
  }

  /** As far as it can go. */
  run(): void {
    while (this.#protocol.progress() || this.#step());
  }

  #step(): boolean {
    if (this.#waitsFor !== null) {
      if (!this.#complete.has(this.#waitsFor)) return false;
      this.#waitsFor = null;
      this.#at++;
      return true;
    }
    const step = this.#program[this.#at];
    switch (step?.[0]) {
      case undefined:
        return false;
      case "send":
      case "ssend":
        this.#waitsFor = this.#send(step[1]!, step[0] === "ssend");
        return true;
      case "recv":
        return this.#receive();
      case "poll":
        return this.#poll();
      case "print": {
        if (!this.#protocol.writeMayLeave({ kind: "line", number: this.#lines })) return false;
        this.#world.printed(this.rank, this.#lines++, hashOf(this.history));
        this.#at++;
        return true;
      }
    }
  }

  #send(dest: number, isSynchronous: boolean): RecordId {
    const sequence = this.#numbers.get(dest) ?? 0;
    this.#numbers.set(dest, sequence + 1);
    const value = hashOf([...this.history, dest, sequence]);
    const pointer = this.#memory.allocate(valueBytes);
    new DataView(this.#memory.bytes.buffer).setInt32(pointer, value, true);
    const send = this.#records.takeMessage(RecordKind.SEND, pointer, valueBytes, dest, 0, 2);
    this.#records.put(send, R_SEQUENCE, sequence);
    this.#records.put(send, R_MODE, isSynchronous ? SendMode.SYNCHRONOUS : SendMode.STANDARD);
    this.#world.sends(this.rank, dest, sequence, value);
    assert(this.#protocol.sendPosted(send), "all messages go through memories");
    return send;
  }

  #receive(): boolean {
    const come = this.#come[0];
    if (come === undefined) return false;
    const value = come.keeper < 0 ? come.value : this.#fetch(come.keeper);
    if (value === null) return false;
    this.#come.shift();
    this.#world.received(this.rank, come.source, come.sequence, value);
    this.history.push(1, come.source, come.sequence, value);
    this.#at++;
    return true;
  }

  /** As the engine does with a message whose envelope came alone. */
  #fetch(keeper: number): number | null {
    this.#receiving ??= this.#records.takeMessage(RecordKind.SEND, 0 as Pointer, valueBytes, this.rank, 0, 2);
    const send = this.#receiving;
    this.#records.put(send, R_PROTOCOL, keeper);
    this.#records.put(send, R_FLAGS, RecordFlag.KEPT);
    if (!this.#protocol.lend(send)) return null;
    const value = valueIn(this.#memory.view(this.#records.get(send, R_POINTER) as Pointer, valueBytes));
    this.#protocol.sendMayComplete(send);
    this.#receiving = null;
    return value;
  }

  #poll(): boolean {
    const { choices } = this.#protocol;
    if (!choices.isReady) return false;
    const known = choices.replay(ChoiceKind.PROBE);
    const first = this.#come[0];
    const outcome = known === undefined ? (first === undefined ? null : [first.source, first.sequence]) : known;
    if (known === undefined && outcome !== null) choices.made(ChoiceKind.PROBE, outcome);
    else if (known === undefined) choices.nothing(ChoiceKind.PROBE);
    this.history.push(2, ...(outcome ?? [-1]));
    this.#at++;
    return true;
  }
}

interface ModelWorldOptions {
  readonly programs: readonly (readonly Step[])[];
  readonly memories: number;
  readonly newProtocol: NewModelProtocol;
  readonly itemsMax: number;
}

export class ModelWorld {
  readonly programs: readonly (readonly Step[])[];
  readonly newProtocol: NewModelProtocol;
  readonly memories: readonly TestedMemory[];
  readonly workers: Worker[];
  /** What others have seen of each rank: values by receiver and number, lines. */
  readonly #shown = new Map<string, number>();
  crashes = 0;
  memoryCrashes = 0;
  #problem = "";

  /** `itemsMax`: messages and events that are in the memory of each channel memory at most. */
  constructor({ programs, memories, newProtocol, itemsMax }: ModelWorldOptions) {
    this.programs = programs;
    this.newProtocol = newProtocol;
    this.memories = Array.from(
      { length: memories },
      (_, number) => new TestedMemory(programs.length, { itemsMax, memories, number }),
    );
    this.workers = programs.map((_, rank) => new Worker(this, rank, 0));
  }

  crash(rank: number): void {
    this.crashes++;
    this.workers[rank] = new Worker(this, rank, this.workers[rank]!.incarnation + 1);
  }

  crashMemory(number: number): void {
    this.crashes++;
    this.memoryCrashes++;
    const memory = this.memories[number]!;
    memory.crash();
    for (const { ends } of this.workers) ends[number]!.connect(memory.memory, memory.origin);
  }

  get isDone(): boolean {
    return this.workers.every(({ isDone }) => isDone);
  }

  get digest(): string {
    const stores = this.memories.map(({ store, origin }) => [
      origin,
      store.written().map(({ pieces }) => [...pieces].map(String)),
    ]);
    return JSON.stringify([this.crashes, [...this.#shown], this.workers.map(({ digest }) => digest), stores]);
  }

  // What is watched

  /** A life makes a message. If its memory has one of that number already, from a life before, it must be the same. */
  sends(source: number, dest: number, sequence: number, value: number): void {
    for (const memory of this.memories) {
      const known = memory.valueOf(dest, source, sequence);
      if (known !== null && known !== value) this.#wrong(`rank ${source} sends another message ${sequence} to ${dest}`);
    }
  }

  received(rank: number, source: number, sequence: number, value: number): void {
    this.#show(`message ${source} to ${rank} ${sequence}`, value);
  }

  printed(rank: number, line: number, value: number): void {
    this.#show(`line ${line} of ${rank}`, value);
  }

  #show(what: string, value: number): void {
    const known = this.#shown.get(what) ?? value;
    this.#shown.set(what, value);
    if (known !== value) this.#wrong(`${what} is another one`);
  }

  #wrong(problem: string): void {
    this.#problem ||= problem;
  }

  /** What a life did otherwise than an earlier one had shown, or once more; empty: nothing. */
  get problem(): string {
    // Words that a memory has written and not acknowledged are said again when it is lost.
    const isRepeated = this.memoryCrashes === 0 && this.memories.some(({ memory }) => memory.load.repeated > 0);
    return isRepeated ? "a message was said again that its memory had" : this.#problem;
  }
}

const valueIn = (bytes: Uint8Array): number => new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true);

function hashOf(numbers: readonly number[]): number {
  let hash = 7;
  for (const number of numbers) hash = Math.imul(hash ^ number, 0x9e3779b1) ^ (hash >>> 13);
  return hash | 0;
}
