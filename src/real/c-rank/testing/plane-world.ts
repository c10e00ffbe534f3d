/**
 * C ranks without C and without threads, on the rings of a real node, with a data plane or without: what a test calls is what the
 * module of a program would call, the plane's functions where there is a plane. A call that must wait unwinds, as Asyncify has it,
 * and is made again when its rank goes on.
 */

import { adoptBefore, firstLightRequest } from "../../../abi/adopted-requests.ts";
import { importsOf } from "../../../abi/binding.ts";
import type { Call } from "../../../abi/call-table.ts";
import { restOfExchange } from "../../../abi/calls/exchanges.ts";
import { restoreProcess, saveProcess } from "../../../abi/process-state.ts";
import { Program } from "../../../abi/program.ts";
import type { CHost } from "../../../abi/waiting/host.ts";
import { assert } from "../../../core/base/assert.ts";
import type { RecordId } from "../../../core/base/brand.ts";
import { DeterminantKind } from "../../../core/ft/determinants/determinant-stream.ts";
import { LoggingProtocol } from "../../../core/ft/logging/logging-protocol.ts";
import { InstantStream } from "../../../core/ft/logging/testing/instant-stream.ts";
import { nodeMapOf } from "../../../core/process/node-map.ts";
import { Process } from "../../../core/process/process.ts";
import { noSpawner } from "../../../core/process/spawner.ts";
import { DataPlane, planeCalls } from "../../data-plane/data-plane.ts";
import type { PlaneRecorder } from "../../data-plane/plane-recorder.ts";
import { Line, layoutOf, lineOf } from "../../transport/layout.ts";
import { LivingProcesses } from "../../transport/living-processes.ts";
import { enterNodeMemory, newNodeMemory } from "../../transport/node-memory.ts";
import { ProgramMemory } from "../../transport/program-memory.ts";
import { RankMemory } from "../../transport/rank-memory.ts";
import { RingTransport } from "../../transport/ring-transport.ts";
import { claimBoard, SharedBoards } from "../../transport/shared-board.ts";
import { PlaneWait } from "./plane-wait.ts";
import { programPages } from "./random-calls.ts";

/** The answer of a call that waits. */
export const WAITS = -100;

export interface RankImage {
  readonly state: Uint8Array;
  readonly memory: Uint8Array;
}

export interface PlaneWorldOptions {
  readonly ranks: number;
  readonly hasPlane: boolean;
  readonly slots?: number;
  readonly eagerBytes?: number;
  /** Where positions in rings begin: they wrap at 2³². */
  readonly firstPosition?: number;
  /** In which calls planes wait themselves, as those of ranks that share a thread do in all. */
  readonly planeWaits?: PlaneWaitCalls;
  /**
   * Packets that a receive of a plane looks at, one unless given. With more of them messages stay in rings that an engine would have stored, and
   * senders find room at other times: there must be enough of it.
   */
  readonly looksAhead?: number;
  readonly unexpectedBytesMax?: number;
  /** Do planes begin requests? One that waits for them leaves messages in the ring which an engine would have stored: see `looksAhead`. */
  readonly beginsRequests?: boolean;
  readonly boardBytes?: number;
  readonly longBytes?: number;
  /** Boards that have long parts: the first of three. */
  readonly longBoards?: number;
  /** From so many bytes on calls on boards may be lending. */
  readonly lentBytesMin?: number;
  /** Under message logging, all ranks in one set. */
  readonly isLogged?: boolean;
  /** There are sockets: has anything come there when a plane looks? */
  readonly sockets?: () => boolean;
  /** For planes this rank is on another node. */
  readonly elsewhere?: number;
}

type PlaneWaitCalls = "none" | "receives" | "collectives" | "all";

export class PlaneWorld {
  readonly ranks: readonly PlaneRank[];
  /** The determinants, where ranks are logged. */
  readonly stream = new InstantStream();
  /** Ranks that have looked into the memory of another. */
  readonly reached = new Set<number>();
  /** How often planes have looked at sockets. */
  looks = 0;
  readonly #population: LivingProcesses;

  constructor(options: PlaneWorldOptions) {
    const { ranks, hasPlane, slots = 8, eagerBytes = 1024, firstPosition = 0, boardBytes = 256 } = options;
    const { looksAhead = 1, unexpectedBytesMax = 512, planeWaits = "none", beginsRequests = false } = options;
    const { longBytes = 1024, longBoards = 3, lentBytesMin = 0x7fffffff, isLogged = false } = options;
    const { sockets, elsewhere = -1 } = options;
    const { stream } = this;
    const setOf = new Int32Array(ranks);
    const layout = layoutOf({
      ...{ processes: ranks, slots, eagerBytes, memoryBytes: 64 << 20 },
      ...{ boards: 3, boardBytes, longBytes, longBoards, lentBytesMin },
    });
    const shared = newNodeMemory(layout, firstPosition);
    const worldBoard = claimBoard(enterNodeMemory(shared, layout, -1), ranks);
    this.#population = new LivingProcesses(enterNodeMemory(shared, layout, -1));
    for (let rank = 0; rank < ranks; rank++) this.#population.born(rank, 0);
    const memories = Array.from(
      { length: ranks },
      () => new WebAssembly.Memory({ initial: programPages, maximum: programPages, shared: true }),
    );
    const places = Int32Array.from({ length: ranks }, (_, rank) => rank);
    const placesOfPlanes = places.map((place) => (place === elsewhere ? -1 : place));
    this.ranks = memories.map((_, rank) => {
      const node = enterNodeMemory(shared, layout, rank);
      const heap = new RankMemory(node);
      const patience = { spins: 1, yields: 0 };
      const recorder = isLogged ? recorderOf(stream, rank) : null;
      const plane =
        hasPlane && rank !== elsewhere
          ? new DataPlane(node, heap, {
              ...{ rank, places: placesOfPlanes, patience, looksAhead, recorder },
              hasSockets: sockets !== undefined,
            })
          : null;
      const buffers = new ProgramMemory(node, (place) => {
        if (place !== rank) this.reached.add(rank);
        return memories[place]!;
      });
      const ring = new RingTransport(node, heap, { rank, places, buffers, cursor: plane?.cursor });
      const process = new Process({
        rank,
        ranks,
        transport: ring,
        memory: buffers,
        pass: plane?.pass ?? null,
        worldBoard,
        boards: new SharedBoards(node, ring, places, { meetings: plane?.meetings ?? null }),
        nodeMap: nodeMapOf(new Array<number>(ranks).fill(0)),
        unexpectedBytesMax,
        protocol: isLogged ? (ports) => new LoggingProtocol({ rank, setOf, stream }, ports) : null,
      });
      beginLife(process);
      const stop = { words: node.words, at: (lineOf(layout, rank) + Line.STOP) >> 2 };
      const lookAtSockets = (): boolean => {
        this.looks++;
        return sockets?.() === true;
      };
      return new PlaneRank({ process, memory: buffers, plane, ring, stop, planeWaits, beginsRequests, lookAtSockets });
    });
  }

  /** Messages arrive everywhere, as far as they can. */
  settle(): void {
    for (const rank of this.ranks) {
      rank.handOver();
      rank.program.suspension.beforeUnwinding();
    }
    while (this.ranks.map(({ process }) => process.progress()).includes(true));
  }

  /** Ranks that wait ask those they wait for, or wait in their engines first; dead ones do not. */
  ask(dead: number): void {
    for (const { process, planeWait } of this.ranks) {
      if (planeWait.isUnderWay) planeWait.leave();
      else if (process.rank !== dead) process.inquiries.ask();
    }
    for (const { process } of this.ranks) if (process.rank !== dead) process.progress();
  }

  /** That process is dead, and the others hear of it. */
  kill(rank: number): void {
    this.#population.died(rank);
    while (!this.#population.settle());
    for (const other of this.ranks) if (other.process.rank !== rank) other.process.peerFailed({ rank, replica: 0 }, 0);
  }

  images(): RankImage[] {
    do this.settle();
    while (!this.ranks.every(({ process }) => process.collectives.withdraw()));
    return this.ranks.map((rank) => rank.image());
  }

  /** The ranks of this world, which is new, go on from images of another. */
  restore(images: readonly RankImage[]): void {
    for (const [i, image] of images.entries()) this.ranks[i]!.restore(image);
  }
}

/** No life here has anything to see again. */
function beginLife(process: Process): void {
  const incarnations = new Array<number>(process.ranks).fill(0);
  process.beginLife({ incarnation: 0, incarnations, data: null, caughtUp() {} });
}

/** Every third entry is late: somebody else has the lock, or there is no room. */
function recorderOf(stream: InstantStream, rank: number): PlaneRecorder {
  let count = 0;
  return {
    append6(length, own, kind, number, source, sequence) {
      assert(length === 6 && own === rank && kind === DeterminantKind.MATCH, "an entry of three words");
      if (++count % 3 === 0) return 1 + (count & 1);
      stream.append3(rank, kind, number, source, sequence);
      return 0;
    },
    late(outcome, number, source, sequence) {
      assert(outcome !== 0, "the entry is not there yet");
      stream.append3(rank, DeterminantKind.MATCH, number, source, sequence);
    },
  };
}

interface PlaneRankOptions {
  readonly process: Process;
  readonly memory: ProgramMemory;
  readonly plane: DataPlane | null;
  readonly ring: RingTransport;
  readonly stop: CHost["stop"];
  readonly planeWaits: PlaneWaitCalls;
  readonly beginsRequests: boolean;
  lookAtSockets(): boolean;
}

class PlaneRank {
  readonly process: Process;
  readonly program: Program;
  readonly bytes: Uint8Array;
  readonly ints: Int32Array;
  readonly plane: DataPlane | null;
  readonly planeWait: PlaneWait;
  readonly #calls: Record<string, Call>;
  readonly #importOf: (name: string) => Call;
  /** The call that waits. */
  #waiting: { readonly name: string; readonly args: readonly number[] } | null = null;
  #calling = "";
  #isUnwinding = false;
  #isRewinding = false;
  readonly #stop: CHost["stop"];
  /** The answer of the call that waits, which was over when the engine took it; null: it is not over. */
  #early: number | null = null;
  /** Waits in which the plane has stopped. */
  planeWaits = 0;

  constructor(options: PlaneRankOptions) {
    const { process, memory, plane, ring, stop, planeWaits, beginsRequests, lookAtSockets } = options;
    this.process = process;
    this.plane = plane;
    this.bytes = memory.bytes;
    this.ints = memory.words;
    this.program = new Program(this.#host(stop));
    this.program.suspension.unwinding = {
      start: () => {
        this.#isUnwinding = true;
      },
      rewound: () => {
        this.#isRewinding = false;
      },
    };
    const importOf = importsOf(this.program);
    const light = beginsRequests && plane !== null ? plane.light : null;
    this.#importOf = (name) =>
      light === null ? importOf(name) : adoptBefore(this.program, light, { [name]: importOf(name) })[name]!;
    this.#stop = stop;
    const imports: Record<string, Call> = Object.fromEntries(planeCalls.map((name) => [name, this.#importOf(name)]));
    const rest = { restOfExchange: restOfExchange(this.program) };
    const engine = { ...imports, ...(light === null ? rest : adoptBefore(this.program, light, rest)) };
    this.planeWait = new PlaneWait({
      stops: () => this.#stopsInPlane(planeWaits),
      unwind: () => {
        this.#isUnwinding = true;
      },
      rewound: () => {
        this.#isRewinding = false;
      },
    });
    const wakeWaiters = (): void => ring.wakeWaiters();
    const connection = {
      memory,
      engine,
      wakeWaiters,
      wake: (other: number) => ring.ring(other),
      lookAtSockets,
      waits: this.planeWait,
      firstRequest: light === null ? null : firstLightRequest,
    };
    this.#calls = plane === null ? imports : plane.connect(connection);
  }

  /** Does the rank stop in this wait of its plane? If not, its engine waits. */
  #stopsInPlane(calls: PlaneWaitCalls): boolean {
    const isReceive = ["MPI_Recv", "MPI_Sendrecv", "MPI_Wait", "MPI_Waitall"].includes(this.#calling);
    if (calls === "all" || calls === (isReceive ? "receives" : "collectives")) {
      this.planeWaits++;
      return true;
    }
    return false;
  }

  /** As `RankHost`, but a wait is a stop. */
  #host(stop: CHost["stop"]): CHost {
    const { process } = this;
    const { engine } = process;
    const over = <T>(result: T): T => {
      process.openPass();
      return result;
    };
    const waitUntil = (isReady: () => boolean): boolean => {
      while (!isReady()) if (!process.progress()) return over(false);
      return over(true);
    };
    return {
      process,
      survivesDeaths: false,
      processorName: "test",
      stop,
      spawner: noSpawner(process.ranks, "this is a test"),
      wait: (request: RecordId) => waitUntil(() => engine.isComplete(request)),
      waitUntil,
      receiveNow: (...wanted) => {
        for (;;) {
          const now = engine.receiveNow(...wanted);
          if (now !== 0) return over(now);
          if (!(process.isBusy && process.progress())) return now;
        }
      },
      look: () => void process.progress(),
      abort: (code, message) => {
        throw new Error(`the job ends with ${code}: ${message}`);
      },
      now: () => 0,
      moveClockTo() {},
    };
  }

  get isWaiting(): boolean {
    return this.#waiting !== null;
  }

  /** What the call answers, or WAITS. */
  call(name: string, ...args: readonly number[]): number {
    assert(!this.isWaiting, "a rank makes one call after the other");
    return this.#answer(name, args);
  }

  /** The call that waits is made again, if there is anything to see. */
  goOn(): number {
    const early = this.#early;
    if (early !== null) {
      this.#early = null;
      this.#waiting = null;
      return early;
    }
    const { isUnderWay } = this.planeWait;
    if (isUnderWay && !this.planeWait.hasNews()) return WAITS;
    const { name, args } = this.#waiting!;
    if (!isUnderWay) {
      this.program.suspension.isRewinding = true;
      this.process.pass.setOutside(true);
    }
    this.#isRewinding = true;
    const answer = this.#answer(name, args);
    assert(!this.#isRewinding, "the import in which a process has stopped hears that it goes on");
    return answer;
  }

  #answer(name: string, args: readonly number[]): number {
    this.#calls[name] ??= this.#importOf(name);
    this.#calling = name;
    const answer = this.#calls[name](...args);
    this.#waiting = this.#isUnwinding ? { name, args } : null;
    this.#isUnwinding = false;
    return this.#waiting === null ? answer : WAITS;
  }

  /** As the node does it before images are taken: the process shall stop, so the engine takes over what the plane waits for. */
  handOver(): void {
    if (!this.planeWait.isUnderWay) return;
    const { words, at } = this.#stop;
    words[at] = 1;
    this.goAhead();
    words[at] = 0;
  }

  /** The call that waits is made again; if it is over thereby, the rank that goes on next is told. */
  goAhead(): void {
    if (this.isAhead) return;
    const waiting = this.#waiting;
    const answer = this.goOn();
    if (answer === WAITS) return;
    this.#early = answer;
    this.#waiting = waiting;
  }

  /** Its call is over, and nobody has been told. */
  get isAhead(): boolean {
    return this.#early !== null;
  }

  image(): RankImage {
    this.process.protocol?.captured(1);
    return { state: saveProcess(this.program), memory: this.bytes.slice() };
  }

  restore({ state, memory }: RankImage): void {
    this.bytes.set(memory);
    restoreProcess(this.program, state);
    beginLife(this.process);
  }

  /** A restored rank waits in the call that it waited in before. */
  waitIn(name: string, args: readonly number[]): void {
    this.#waiting = { name, args };
  }

  get waitsIn(): { readonly name: string; readonly args: readonly number[] } | null {
    return this.#waiting;
  }
}
