/** Puts one rank together: its memory, transport, process, waiting, and the API its program sees. */
import { availableParallelism, hostname } from "node:os";
import { protocols } from "../../core/ft/registry.ts";
import { Process } from "../../core/process/process.ts";
import { Mpi } from "../../mpi/mpi.ts";
import type { SharedNode } from "../node/node-memory.ts";
import { RankTracer } from "../trace/rank-tracer.ts";
import { enterNodeMemory } from "../transport/node-memory.ts";
import { NoticeKind, NoticeReader } from "../transport/notices.ts";
import { RankMemory } from "../transport/rank-memory.ts";
import { SharedBoards } from "../transport/shared-board.ts";
import type { SharedHandover, TcpRequest } from "../transport/tcp/handover.ts";
import { RankHost } from "./rank-host.ts";
import { openTransports, type RankTransports } from "./rank-transports.ts";

export interface RankOptions {
  readonly rank: number;
  readonly size: number;
  /** Node of each rank of the job. */
  readonly nodeOf: readonly number[];
  readonly incarnation: number;
  /** A name of `core/ft/registry.ts`. */
  readonly protocol: string;
  /** `NodeMemory.shared` of this rank's node. */
  readonly memory: SharedNode;
  /** How connections to other nodes come to this rank; null in a job of one node. */
  readonly handover: SharedHandover | null;
  /** Posts to the node's main thread what concerns those connections. */
  tell(request: TcpRequest): void;
  /** Where to write trace events, one JSON object a line (Chrome trace format); empty: no trace. */
  readonly traceFile: string;
  /** MPI_Abort: ends the job with that code; does not return. */
  abort(code: number, message: string): never;
  /** Rank 0's value for `await job.done`; throws what `structuredClone` would. */
  result(value: unknown): void;
}

export interface RankProcess {
  /** What programs import as `mpi`. */
  readonly mpi: object;
  /** The thread is ending in order: closes everything and returns how many requests are unfinished. */
  finish(): number;
  /** The thread has failed and is ending: closes what it has open, and waits for nobody. */
  close(): void;
}

export function createRank(options: RankOptions): RankProcess {
  const { rank, size, memory: shared } = options;
  const nodeOf = Int32Array.from(options.nodeOf);
  const places = placesIn(nodeOf, nodeOf[rank]!);
  const crowded = size > availableParallelism();

  const node = enterNodeMemory(shared.memory, shared.layout, places[rank]!);
  const memory = new RankMemory(node);
  const { handover, tell } = options;
  const transports = openTransports(node, memory, { rank, nodeOf, places, crowded, handover, tell });
  const { ring, transport, waiting } = transports;
  const protocol = protocols[options.protocol]!();
  // Boards go past the messages: only where nobody must see those (rule 12).
  const boards = protocol.name === "none" ? new SharedBoards(node, ring, places) : null;
  const { worldBoard } = shared;
  const process = new Process({ rank, ranks: size, nodeOf, transport, memory, protocol, boards, worldBoard });
  transports.setLanding(process.engine);
  const notices = new NoticeReader(node);
  const tracer = tracerOf(options, nodeOf[rank]!);
  process.engine.tracer = tracer;

  const host = new RankHost({
    process,
    waiting,
    tracer,
    processorName: hostname(),
    notices: {
      deliver(died) {
        if (!notices.isNews()) return false;
        for (let notice = notices.next(); notice !== undefined; notice = notices.next()) {
          if (notice.kind !== NoticeKind.DIED) continue;
          died(notice.rank, notice.incarnation);
          transports.peerFailed(notice.rank);
        }
        return true;
      },
    },
    abort: options.abort,
    result: options.result,
  });
  const mpi = new Mpi(host);
  return {
    mpi,
    finish() {
      mpi.finalize();
      const unfinished = leave(host, transports);
      tracer?.close();
      return unfinished;
    },
    close: () => tracer?.close(),
  };
}

/**
 * The end of a rank: what it still has to send leaves, then it waits for everybody else, so that nobody closes what another
 * still needs. A rank with unfinished requests does not wait: it has failed, and the job ends. Deaths end the waits.
 */
function leave(host: RankHost, transports: RankTransports): number {
  const { process } = host;
  const { engine } = process;
  host.waitUntil(() => !engine.unsent);
  const { unfinished } = engine;
  if (unfinished > 0) return unfinished;
  const barrier = process.startFinalBarrier();
  host.wait(barrier);
  // Our last signals may still wait for room.
  host.waitUntil(() => !engine.unsent && transports.hasLeft());
  return 0;
}

/** Index in our node of every rank, −1 for those on other nodes. */
function placesIn(nodeOf: Int32Array, node: number): Int32Array {
  let next = 0;
  return nodeOf.map((other) => (other === node ? next++ : -1));
}

function tracerOf({ traceFile, rank, abort }: RankOptions, node: number): RankTracer | null {
  if (traceFile === "") return null;
  const failed = (reason: string): never =>
    abort(1, `Cannot write the trace: ${reason}; free some space, or run without --trace`);
  return new RankTracer({ file: traceFile, rank, node, failed });
}
