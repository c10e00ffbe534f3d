/** Requests in the data plane of a C rank (docs/adr/0076-requests-in-the-data-plane.md): those that are complete at once, and receives that wait. */
import type { NodeCalls, NodeMemory } from "../transport/node-memory.ts";
import requestsBytes from "./requests.wat";
import faceBytes from "./requests-face.wat";

/** Imports of the program whose place the plane takes. */
export const planeRequests: readonly string[] = ["MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Waitall", "MPI_Test"];

type Functions = Record<string, unknown>;

interface Connection {
  readonly node: NodeMemory;
  readonly calls: NodeCalls;
  /** The program's. */
  readonly memory: WebAssembly.Memory;
  /** Exports of plane.wat and face.wat. */
  readonly plane: Functions;
  readonly face: Functions;
  /** What plane.wat is told. */
  readonly places: Record<string, number>;
  /** Where the light requests are, and the handle of the first. */
  readonly table: number;
  readonly firstHandle: number;
  /** The imports as the engine has them. */
  readonly engine: Functions;
  /** See face.wat. */
  readonly waits: Functions;
}

let requestsModule: WebAssembly.Module | undefined;
let faceModule: WebAssembly.Module | undefined;

/** The functions that take the place of the engine's imports. */
export function connectRequests(connection: Connection): Functions {
  const { node, memory, plane, face, places, table, firstHandle, engine, waits } = connection;
  requestsModule ??= new WebAssembly.Module(requestsBytes);
  faceModule ??= new WebAssembly.Module(faceBytes);
  const requests = new WebAssembly.Instance(requestsModule, {
    node: { memory: node.memory },
    calls: { ...connection.calls },
    messages: plane,
    plane: { ...places, requests: table, firstHandle },
  });
  const { MPI_Test, ...calls } = new WebAssembly.Instance(faceModule, {
    program: { memory, bytes: memory.buffer.byteLength },
    plane,
    face,
    requests: requests.exports,
    waits,
    engine,
  }).exports;
  // Its answer is a choice, and recorded.
  return places["records"] === 1 ? calls : { ...calls, MPI_Test };
}
