import type { Pointer, RecordId } from "../../base/brand.ts";
import { ErrorClass } from "../../base/mpi-error.ts";
import { saves } from "../../base/saved-classes.ts";
import { kindCode } from "../../coll/engine/collective-call.ts";
import { adjacentOf, DistGraphTopology } from "../../comm/topology/dist-graph.ts";
import { R_ERROR } from "../../request/records.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import type { Creation } from "../task.ts";
import { Duplicate } from "./duplicate.ts";
import { NewCommunicator } from "./new-communicator.ts";
import { WordExchange } from "./word-exchange.ts";

/** Source, destination, weight. */
const edgeWords = 3;

/**
 * MPI_Dist_graph_create: any process may bring any edges. They tell each other how many, then which, and each takes its own;
 * the communicator is a duplicate, with the graph as its topology.
 */
export class CreateDistGraph extends NewCommunicator {
  private readonly parent: Communicator;
  /** Source, destination and weight of each. */
  private readonly edges: Int32Array;
  private readonly isWeighted: boolean;
  private readonly counts: WordExchange;
  private readonly duplicate: Duplicate;
  private exchangeRequest = -1 as RecordId;
  private buffer = 0 as Pointer;
  private words = 0;
  private topology: DistGraphTopology | null = null;

  constructor(parent: Communicator, edges: Int32Array, isWeighted: boolean) {
    super();
    this.parent = parent;
    this.edges = edges;
    this.isWeighted = isWeighted;
    this.duplicate = new Duplicate(parent, kindCode.dist_graph_create);
    this.counts = new WordExchange(parent, [edges.length], this.creation.number);
  }

  override get creation(): Creation {
    return { ...this.duplicate.creation, kind: kindCode.dist_graph_create };
  }

  override isStep(comm: Communicator, tag: number): boolean {
    return this.duplicate.isStep(comm, tag);
  }

  override advance(process: Process): boolean {
    if (this.topology === null) {
      if (this.exchangeRequest < 0 && !this.exchange(process)) return false;
      if (this.error !== 0) return true;
      if (!this.take(process)) return false;
      if (this.error !== 0) return true;
    }
    if (!this.duplicate.advance(process)) return false;
    this.error = this.duplicate.error;
    this.result = this.duplicate.result;
    if (this.result !== null) this.result.topology = this.topology;
    return true;
  }

  /** Starts the exchange of edges once the number of edges of every member is known. */
  private exchange(process: Process): boolean {
    const counts = this.counts.advance(process);
    if (counts === null) return false;
    this.error = this.counts.error;
    // Words of a rank that called another collective can be anything.
    if (counts.some((words) => words < 0 || words % edgeWords !== 0)) this.error ||= ErrorClass.OTHER;
    if (this.error !== 0) return true;
    const { memory, collectives } = process;
    const parent = this.parent;
    const bytes = Array.from(counts, (words) => 4 * words);
    const offsets = bytes.map((length) => {
      this.words += length / 4;
      return 4 * this.words - length;
    });
    this.buffer = memory.allocate(4 * this.words);
    // Edges of a rank that takes no part, because ranks disagree, do not come.
    memory.bytes.fill(0, this.buffer, this.buffer + 4 * this.words);
    const place = (this.buffer + offsets[parent.rank]!) as Pointer;
    new Int32Array(memory.bytes.buffer, place, this.edges.length).set(this.edges);
    const collective = {
      kind: "allgatherv",
      ...parent.place,
      bytes: bytes[parent.rank]!,
      nodes: parent.memberNodes,
    } as const;
    const call = { ...collective, blocks: { bytes, offsets }, inPlace: true };
    this.exchangeRequest = collectives.start(parent, call, 0 as Pointer, this.buffer, null, this.creation.number);
    return true;
  }

  /** Takes this process's edges out of those of all members when they are there. */
  private take({ engine, memory }: Process): boolean {
    if (!engine.isComplete(this.exchangeRequest)) return false;
    this.error = engine.records.get(this.exchangeRequest, R_ERROR);
    engine.giveBack(this.exchangeRequest);
    const edges = new Int32Array(memory.bytes.buffer, this.buffer, this.words).slice();
    memory.free(this.buffer);
    const { rank, size } = this.parent;
    this.topology = new DistGraphTopology(adjacentOf(rank, edges, this.isWeighted), size);
    return true;
  }
}

saves({ CreateDistGraph });
