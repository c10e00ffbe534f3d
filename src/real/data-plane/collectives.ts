/**
 * The collectives of a C rank's data plane, on the boards of a node
 * (docs/adr/0025-collectives-in-the-data-plane.md). collectives.wat decides and works in the node's memory, fold.wat combines there,
 * collectives-face.wat copies to and from the program's memory.
 */

import type { Pointer } from "../../core/base/brand.ts";
import { combinedBytesMax } from "../../core/coll/engine/board.ts";
import { lentBlockBytesMax } from "../../core/coll/engine/lent-parts.ts";
import type { MeetingPass } from "../../core/coll/engine/meeting-pass.ts";
import { predefinedTypes } from "../../core/comm/datatype/datatype-predefined.ts";
import { foldedFormats } from "../../core/comm/op/fold.ts";
import { groupsOf, type OpName, predefinedOps } from "../../core/comm/op/op-predefined.ts";
import { BoardPart, partStride } from "../transport/layout.ts";
import { foldExports } from "../transport/memory-fold.ts";
import type { NodeCalls, NodeMemory } from "../transport/node-memory.ts";
import planeBytes from "./collectives.wat";
import faceBytes from "./collectives-face.wat";
import { type NeighbourMemory, PlanePair } from "./pair.ts";
import { gateWaits, type PlaneWaitPort } from "./plane-wait-port.ts";

export const planeCollectives = [
  ...(["MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall"] as const),
  ...(["MPI_Reduce", "MPI_Allreduce"] as const),
] as const;

/** Says which operations fold.wat does on which predefined datatypes: those that the engine does. */
export function publishOperations(meetings: MeetingPass): void {
  const names = Object.keys(groupsOf) as OpName[];
  for (const { handle, elements } of Object.values(predefinedTypes)) {
    const [element, other] = elements;
    if (element === undefined || other !== undefined) continue;
    const format = foldedFormats.indexOf(element.format);
    if (format < 0) continue;
    const operations = names.filter((name) => groupsOf[name]!.includes(element.group));
    meetings.publishOperations(
      handle,
      operations.map((name) => predefinedOps[name].handle),
      format,
    );
  }
}

// biome-ignore lint/suspicious/noExplicitAny: numbers, and BigInt where C has 64 bits
type Call = (...args: any[]) => number;

type Exports = WebAssembly.Instance["exports"];

interface Connection {
  readonly node: NodeMemory;
  readonly calls: NodeCalls;
  /** The program's. */
  readonly memory: WebAssembly.Memory;
  /** The same, and those of the other processes of the node. */
  readonly neighbours: NeighbourMemory;
  /** Exports of plane.wat and face.wat. */
  readonly plane: Exports;
  readonly face: Exports;
  /** What plane.wat is told. */
  readonly places: Record<string, number>;
  /** Where the meeting pass is. */
  readonly meetings: number;
  /** The imports as the engine has them. */
  readonly engine: Record<string, Call>;
  yield(): void;
  /** Wakes that process of the node, which may sleep over its sockets. */
  wake(process: number): void;
  readonly waits: PlaneWaitPort | null;
}

let planeModule: WebAssembly.Module | undefined;
let faceModule: WebAssembly.Module | undefined;

/** Wakes the members of a board, wherever they sleep. */
function wakerOf({ node, wake }: Connection): (board: number, members: number) => void {
  const { words } = node;
  return (board, members) => {
    const first = (board + BoardPart.MEMBERS) >> 2;
    for (let member = 0; member < members; member++) wake(words[first + member]! - 1);
  };
}

interface ConnectedCollectives {
  /** The functions that take the place of the engine's imports, all of them. */
  readonly calls: Exports;
  /** A look at the gate at which the process stands. */
  readonly look: () => number;
}

export function connectCollectives(connection: Connection): ConnectedCollectives {
  const { node, calls, memory, neighbours, plane, face, places, meetings, engine, waits } = connection;
  planeModule ??= new WebAssembly.Module(planeBytes);
  faceModule ??= new WebAssembly.Module(faceBytes);
  const { boardBytes } = node.layout;
  const meeting = new WebAssembly.Instance(planeModule, {
    node: { memory: node.memory },
    calls: { ...calls },
    host: { yield: connection.yield, wakeMembers: wakerOf(connection) },
    messages: plane,
    fold: foldExports(node.memory),
    plane: { ...places, meetings, boardBytes, partStride: partStride(boardBytes), combinedBytesMax, lentBlockBytesMax },
  });
  const { exports } = new WebAssembly.Instance(faceModule, {
    program: { memory },
    plane: meeting.exports,
    face,
    neighbours: {
      fetch: (place: number, to: Pointer, from: number, bytes: number) =>
        neighbours.fetchFrom(place, to, 0, from, bytes),
      combine: new PlanePair(neighbours).combine,
    },
    engine,
    waits: gateWaits(waits),
  });
  return { calls: exports, look: meeting.exports["look"] as () => number };
}
