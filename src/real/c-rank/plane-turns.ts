/**
 * Turns without JavaScript: of ranks that share a thread and wait in their data planes (docs/adr/0042-turns-in-webassembly.md). turns.wat changes
 * from one such rank to the next; this file has the words of a thread that JavaScript (c-rank-turns.ts) and the text share.
 */
import type { StackSwitch } from "../../abi/c-program.ts";
import { type PlaneWaitPort, Sight } from "../data-plane/plane-wait-port.ts";
import { newYield } from "../machine/yield.ts";
import { type TurnWord, turnClock } from "../messages/whereabouts.ts";
import type { NodeMemory } from "../transport/node-memory.ts";
import turnsBytes from "./turns.wat";

/** Words of the head, as turns.wat has them. */
const H_IDLE = 0;
const H_MOVED = 1;
const H_CURRENT = 2;
const headWords = 4;
/** Words of a rank's record. */
const R_WAIT = 0;
const R_SEEN = 1;
const R_SLEEPS = 2;
const R_TURN_WORD = 3;
const recordWords = 4;
/** `R_WAIT`: the rank has ended. */
const ENDED = -1;

/** Functions of a rank in the table. */
const F_MESSAGE_LOOK = 0;
const F_GATE_LOOK = 1;
const F_UNWIND = 2;
const F_GO_ON = 3;
const F_REWOUND = 4;
const functionsPerRank = 5;

/** After so many sleeps of the thread the engine waits: it can ask others, and tell people where the process is. */
const sleepsMax = 20;

interface PlaneTurnsOptions {
  readonly node: NodeMemory;
  /** Of each rank of the thread, in the node's memory. */
  readonly turnWords: readonly TurnWord[];
  /** A part of the node's memory for this thread alone. */
  allocate(bytes: number): number;
  /** Rounds without anything to do in which the core is given away, before the thread sleeps. */
  readonly yields: number;
  /** Not all ranks wait in their planes, or it takes long: shall another rank than the present one run? If none can, a moment passes. */
  mustGiveWay(): boolean;
  /** Something has moved after such a moment. */
  moved(): void;
}

interface TurnsExports extends Pick<PlaneWaitPort, "waitForMessage" | "waitAtGate" | "rewound"> {
  hasNews(rank: number): number;
  run(rank: number): number;
}

/** A rank's part of the turns. */
export interface PlaneTurn extends PlaneWaitPort {
  /** The program is there. */
  switchBy(stackSwitch: StackSwitch): void;
}

/** Ranks are counted from 0 in the thread. */
export class PlaneTurns {
  readonly #words: Int32Array;
  readonly #functions: WebAssembly.Table;
  readonly #exports: TurnsExports;

  constructor({ node, turnWords, allocate, yields, mustGiveWay, moved }: PlaneTurnsOptions) {
    const ranks = turnWords.length;
    const wordCount = headWords + ranks * recordWords;
    const head = allocate(wordCount * 4);
    this.#words = node.words.subarray(head >> 2, (head >> 2) + wordCount).fill(0);
    for (const [rank, { at }] of turnWords.entries()) this.#put(rank, R_TURN_WORD, at * 4);
    this.#functions = new WebAssembly.Table({ element: "anyfunc", initial: ranks * functionsPerRank });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(turnsBytes), {
      node: { memory: node.memory },
      turns: { functions: this.#functions, head, ranks, yields },
      host: { mustGiveWay, moved, yield: newYield(), clock: turnClock },
    });
    this.#exports = exports as unknown as TurnsExports;
  }

  turnOf(rank: number): PlaneTurn {
    const { waitForMessage, waitAtGate, rewound } = this.#exports;
    return {
      waitForMessage,
      waitAtGate,
      rewound,
      looks: (forMessage, atGate) => {
        this.#setFunction(rank, F_MESSAGE_LOOK, forMessage);
        this.#setFunction(rank, F_GATE_LOOK, atGate);
      },
      switchBy: ({ unwind, goOn, rewound: isRewound }) => {
        this.#setFunction(rank, F_UNWIND, unwind);
        this.#setFunction(rank, F_GO_ON, goOn);
        this.#setFunction(rank, F_REWOUND, isRewound);
      },
    };
  }

  /** Rounds without anything to do, since something moved. */
  get idle(): number {
    return this.#words[H_IDLE]!;
  }
  set idle(rounds: number) {
    this.#words[H_IDLE] = rounds;
  }

  /** Has anything moved since the last sleep? */
  get hasMoved(): boolean {
    return this.#words[H_MOVED] !== 0;
  }
  set hasMoved(hasMoved: boolean) {
    this.#words[H_MOVED] = hasMoved ? 1 : 0;
  }

  /** The rank that runs, or ran last. */
  get current(): number {
    return this.#words[H_CURRENT]!;
  }

  /** JavaScript lets that rank run. */
  begin(rank: number): void {
    this.#words[H_CURRENT] = rank;
  }

  /** Lets a rank go on whose plane waits, and then others: until the program of `current` has stopped elsewhere, or has come to its end. Throws what that program throws. */
  run(rank: number): void {
    this.#exports.run(rank);
  }

  /** Has the rank stopped, or does it wait, in its plane? */
  isWaiting(rank: number): boolean {
    return this.#words[headWords + rank * recordWords + R_WAIT]! > 0;
  }

  /** Of one that waits: is there anything for the plane or the engine to see to? */
  hasNews(rank: number): boolean {
    return this.#exports.hasNews(rank) !== Sight.NOTHING;
  }

  /** Of one that waits: the thread has slept. */
  slept(rank: number): void {
    const sleeps = this.#words[headWords + rank * recordWords + R_SLEEPS]! + 1;
    this.#put(rank, R_SLEEPS, sleeps);
    if (sleeps >= sleepsMax) this.leave(rank);
  }

  /** Of one that waits: the engine shall wait. */
  leave(rank: number): void {
    this.#put(rank, R_SEEN, Sight.ENGINE);
  }

  ended(rank: number): void {
    this.#put(rank, R_WAIT, ENDED);
  }

  #put(rank: number, word: number, value: number): void {
    this.#words[headWords + rank * recordWords + word] = value;
  }

  #setFunction(rank: number, which: number, call: () => unknown): void {
    this.#functions.set(rank * functionsPerRank + which, call);
  }
}
