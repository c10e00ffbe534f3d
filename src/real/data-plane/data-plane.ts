/**
 * The data plane of a C rank: messages, requests and collectives of few bytes inside a node as WebAssembly, which is optimised before the
 * program begins and is called by the program's module directly (docs/adr/0020-a-data-plane-compiled-before-the-first-call.md).
 * plane.wat decides and works in the node's memory, face.wat in the program's; the pass (core/p2p/pass.ts) has the engine's
 * permission. What the plane does not take goes to the imports of abi/.
 */
import { MeetingPass } from "../../core/coll/engine/meeting-pass.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { LightRequests } from "../../core/p2p/light-requests.ts";
import { P_POSITION, Pass, W_RING } from "../../core/p2p/pass.ts";
import { longCopy } from "../machine/view-copy.ts";
import { newYield } from "../machine/yield.ts";
import { Line, lineOf, ringOf } from "../transport/layout.ts";
import { copyBetween } from "../transport/memory-copies.ts";
import { compileCallsAnew, type NodeMemory } from "../transport/node-memory.ts";
import type { RankMemory } from "../transport/rank-memory.ts";
import { connectCollectives, planeCollectives, publishOperations } from "./collectives.ts";
import { connectExchanges } from "./exchange.ts";
import faceBytes from "./face.wat";
import type { NeighbourMemory } from "./pair.ts";
import planeBytes from "./plane.wat";
import { type PlaneRecorder, recordImports } from "./plane-recorder.ts";
import { messageWaits, type PlaneWaitPort } from "./plane-wait-port.ts";
import { connectRequests, planeRequests } from "./requests.ts";

interface DataPlaneOptions {
  readonly rank: number;
  /** Index in the node of each process that the job can have, −1 for those elsewhere: what goes to and comes from them is the engine's. */
  readonly places: Int32Array;
  readonly patience: Patience;
  /** How many packets a receive looks at, 1 or more: half of a ring unless given, so that senders find room. */
  readonly looksAhead?: number;
  /** Messages are those of a layer above the engine: the plane has collectives alone, and leaves them to the engine while a packet waits to be seen. */
  readonly isLayered?: boolean | undefined;
  /** Are there processes elsewhere? */
  readonly hasSockets?: boolean;
  /** For a protocol that must know what receives from any source took, and lets the plane do everything else without it. */
  readonly recorder?: PlaneRecorder | null;
}

/** How long a receive waits before the engine does: spins, then turns at which the core is given away. */
interface Patience {
  readonly spins: number;
  readonly yields: number;
}

// biome-ignore lint/suspicious/noExplicitAny: numbers, and BigInt where C has 64 bits
type Call = (...args: any[]) => number;

/** Imports of the program by their names. */
type Calls = Record<string, Call>;

interface Connection {
  /** The program's. */
  readonly memory: NeighbourMemory;
  /** The imports as the engine has them, and what goes on with an MPI_Sendrecv whose message has left. */
  readonly engine: Calls & { readonly restOfExchange: Call };
  /** The handle of the first light request, where the imports take over what the plane has begun (abi/adopted-requests.ts); null: it begins none. */
  readonly firstRequest: number | null;
  /** Wakes those that wait for room in the ring of this process. */
  wakeWaiters(): void;
  /** Wakes that process of the node, which may sleep over its sockets. */
  wake(process: number): void;
  /** Sockets are looked at, and what has come there is the engine's by then. True: something has. */
  lookAtSockets(): boolean;
  /** How a rank that shares its thread waits; null: it does not share it. */
  readonly waits: PlaneWaitPort | null;
}

/** Polls of the ring in one spin: about 1.4 µs. */
const looks = 1000;
/**
 * As long as a wait of the engine spins (real/process/waiting.ts), then a millisecond and a half of giving the core away: another rank may
 * begin that much later, be interrupted, or copy, and an engine that is cold takes longer than all of that.
 */
const patient: Patience = { spins: 4, yields: 4000 };
/** More ranks than cores on this machine. */
const crowdedPatience: Patience = { spins: 0, yields: 100 };
/** Another rank of the thread may have something to do: the engine finds out. */
const noPatience: Patience = { spins: 0, yields: 0 };

export function patienceOf(isCrowded: boolean, takesTurns: boolean): Patience {
  if (takesTurns) return noPatience;
  return isCrowded ? crowdedPatience : patient;
}

/** Words of a way that the engine does not know, behind those that it does, in bytes. */
const W_BELL = 12;
const W_BUFFERS = 16;

/**
 * From so many bytes on an instruction for two memories is faster than registers, and a function in JavaScript where there is none. (Node 20, x86-64, half a round trip: 2 KiB 1.0 µs by registers and 1.15 to 1.6
 * by the function, 3 KiB 1.3 to 1.4 and 1.4 to 1.7, 4 KiB 1.64 and 1.60; Neoverse-N1: 2 KiB the function.)
 */
const instructionBytesMin = 128;
const functionBytesMin = process.arch === "x64" ? 4096 : 2048;

/** The plane copies whole sixteens: a buffer that ends nearer to the end of the memory is the engine's. */
const marginBytes = 16;

/** Imports of the program whose place the plane takes. */
export const planeCalls: readonly string[] = [
  ...["MPI_Send", "MPI_Recv", "MPI_Sendrecv"],
  ...planeRequests,
  ...planeCollectives,
];

let planeModule: WebAssembly.Module | undefined;
let faceModule: WebAssembly.Module | undefined;

export class DataPlane {
  readonly pass: Pass;
  readonly meetings: MeetingPass;
  /** The word that holds the position of the next packet in the ring of the process. */
  readonly cursor: Int32Array;
  readonly #node: NodeMemory;
  readonly #options: DataPlaneOptions;
  readonly #address: number;
  readonly #meetingsAddress: number;
  /** Requests that the plane begins; null: it begins none. */
  readonly light: LightRequests | null;
  readonly #lightAddress: number;

  constructor(node: NodeMemory, heap: RankMemory, options: DataPlaneOptions) {
    const ranks = options.places.length;
    const wordCount = Pass.wordsFor(ranks);
    this.#node = node;
    this.#options = options;
    this.#address = heap.allocate(wordCount * 4);
    const first = this.#address >> 2;
    // Members of communicators are written when they are needed: a large job has room for many, and pages that nobody touches cost nothing.
    const words = node.words.subarray(first, first + wordCount);
    this.#meetingsAddress = heap.allocate(MeetingPass.wordsFor(node.layout.boardCount) * 4);
    this.meetings = this.#newMeetings();
    this.pass = new Pass(words, {
      ...{ ranks, address: this.#address, meetings: this.meetings },
      isOnDemand: options.hasSockets === true,
    });
    this.#lightAddress = heap.allocate(LightRequests.wordCount * 4);
    this.light = options.isLayered === true ? null : this.#newLight();
    this.cursor = words.subarray(P_POSITION, P_POSITION + 1);
    for (const type of Object.values(predefinedTypes)) {
      if (type.isContiguous(2) && type.trueLb === 0) this.pass.publishType(type.handle, type.size);
    }
    for (let rank = 0; rank < ranks; rank++) this.#openWay(rank);
  }

  #newMeetings(): MeetingPass {
    const { layout, words } = this.#node;
    const [first, wordCount] = [this.#meetingsAddress >> 2, MeetingPass.wordsFor(layout.boardCount)];
    const meetings = new MeetingPass(
      words.subarray(first, first + wordCount),
      layout.boardCount,
      this.#meetingsAddress,
    );
    publishOperations(meetings);
    return meetings;
  }

  #newLight(): LightRequests {
    const first = this.#lightAddress >> 2;
    const words = this.#node.words.subarray(first, first + LightRequests.wordCount);
    return new LightRequests(words, this.pass, { isSparing: this.#options.hasSockets === true });
  }

  /** Nothing has happened yet that the engine would have to be asked about. */
  #openWay(rank: number): void {
    const { layout, words } = this.#node;
    const place = this.#options.places[rank]!;
    const way = (this.#address + Pass.waysAt + rank * Pass.wayBytes) >> 2;
    this.pass.setNextNumber(rank, 0);
    if (place < 0) {
      words[way + W_RING] = 0;
      return;
    }
    words[way + W_RING] = ringOf(layout, place);
    words[way + (W_BELL >> 2)] = lineOf(layout, place) + Line.BELL;
    words[way + (W_BUFFERS >> 2)] = layout.eager + place * layout.slots * layout.eagerBytes;
    this.pass.openWay(rank, layout.eagerBytes);
  }

  /** The functions that take the place of the engine's imports. */
  connect({ memory: neighbours, engine, waits, firstRequest, ...host }: Connection): Calls {
    const node = this.#node;
    const { memory } = neighbours;
    planeModule ??= new WebAssembly.Module(planeBytes);
    faceModule ??= new WebAssembly.Module(faceBytes);
    const programBytes = memory.buffer.byteLength;
    const calls = compileCallsAnew(node.memory, node.layout, node.process);
    const places = this.#placesInNode();
    const { restOfExchange } = engine;
    const imports = Object.fromEntries(planeCalls.map((name) => [name, engine[name] ?? uncalled]));
    const plane = new WebAssembly.Instance(planeModule, {
      node: { memory: node.memory },
      calls: { ...calls },
      host: {
        yield: newYield(),
        wakeWaiters: () => host.wakeWaiters(),
        wakeElsewhere: (bell: number) => host.wake(this.#processOf(bell)),
        lookAtSockets: () => (host.lookAtSockets() ? 1 : 0),
      },
      record: recordImports(this.#options.recorder ?? null),
      plane: { ...places, programBytes: BigInt(programBytes - marginBytes) },
    });
    const waitsForMessage = messageWaits(waits);
    const face = new WebAssembly.Instance(faceModule, {
      program: { memory, bytes: programBytes },
      plane: plane.exports,
      copies: copiesOf(memory, node),
      waits: waitsForMessage,
      engine: imports,
    });
    const halves = { plane: plane.exports, face: face.exports };
    const exchanges = connectExchanges({ ...halves, engine: { ...imports, restOfExchange }, waits: waitsForMessage });
    const requests =
      firstRequest === null || this.light === null
        ? {}
        : connectRequests({
            ...{ ...halves, node, calls, memory, places, engine: imports, waits: waitsForMessage },
            ...{ table: this.#lightAddress, firstHandle: firstRequest },
          });
    const collectives = connectCollectives({
      ...{ node, calls, memory, neighbours, places, meetings: this.#meetingsAddress },
      ...{ ...halves, engine: imports, yield: newYield(), waits, wake: host.wake },
    });
    waits?.looks(plane.exports["look"] as () => number, collectives.look);
    const made = { ...face.exports, ...exchanges, ...requests, ...collectives.calls } as unknown as Calls;
    const taken = this.#options.isLayered === true ? planeCollectives : planeCalls;
    const isTaken = (name: string): boolean => name in engine && name in made;
    return Object.fromEntries(taken.filter(isTaken).map((name) => [name, made[name]!]));
  }

  #processOf(bell: number): number {
    const { lines } = this.#node.layout;
    return (bell - Line.BELL - lines) / Line.BYTES;
  }

  /** What plane.wat is told of the node and of its process. */
  #placesInNode(): Record<string, number> {
    const { layout, process } = this.#node;
    const { rank, patience, looksAhead = layout.slots >> 1 } = this.#options;
    const line = lineOf(layout, process);
    return {
      pass: this.#address,
      ways: this.#address + Pass.waysAt,
      rank,
      ring: ringOf(layout, process),
      slots: layout.slots,
      eagerBytes: layout.eagerBytes,
      stop: line + Line.STOP,
      notices: layout.noticesAt,
      noticesSeen: line + Line.NOTICES_SEEN,
      looks,
      spins: patience.spins,
      yields: patience.yields,
      looksAhead,
      hasSockets: this.#options.hasSockets === true ? 1 : 0,
      records: (this.#options.recorder ?? null) === null ? 0 : 1,
      listens: this.#options.isLayered === true ? 1 : 0,
    };
  }
}

/** How longer messages are copied, and from how many bytes on. */
function copiesOf(program: WebAssembly.Memory, node: NodeMemory) {
  const toNode = copyBetween(program, node.memory);
  const fromNode = copyBetween(node.memory, program);
  if (toNode !== null && fromNode !== null) return { toNode, fromNode, bytesMin: instructionBytesMin };
  const bytes = new Uint8Array(program.buffer);
  return { toNode: longCopy(bytes, node.bytes), fromNode: longCopy(node.bytes, bytes), bytesMin: functionBytesMin };
}

/** Stands for an import that the program does not have. */
function uncalled(): number {
  return 0;
}
