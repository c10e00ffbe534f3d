/** Starts of ranks in a node: the first ones, those that a program spawns, and new lives of ranks that were lost. */
import { shortageOf, tryToAllocate } from "../machine/memory-shortage.ts";
import type { RankRestart } from "../messages/lives.ts";
import type { NewRank, RestartRanks, StartRanks } from "../messages/node-messages.ts";
import type { ProgramForm, ProgramPlace } from "../messages/program-place.ts";
import { programOf } from "../messages/program-place.ts";
import type { NewNeighbours } from "../messages/rank-messages.ts";
import { Stop } from "../transport/layout.ts";
import { type AgentParts, lifeText } from "./agent-parts.ts";
import type { FilledClone } from "./node-clones.ts";
import type { StartingRank } from "./rank-threads.ts";

export class RankStarts {
  readonly #node: AgentParts;
  /** Ranks whose next life has not begun yet, and those of them that the fault plan has killed meanwhile. */
  readonly #returning = new Set<number>();
  readonly #doomed = new Set<number>();
  #leaving = false;

  constructor(node: AgentParts) {
    this.#node = node;
  }

  /** The node ends: lives that have not begun yet never will. */
  leave(): void {
    this.#leaving = true;
  }

  /** By the fault plan; a rank whose life has not begun dies as soon as it has. */
  kill(rank: number): void {
    if (this.#returning.has(rank)) this.#doomed.add(rank);
    else void this.#node.threads.get(rank)?.terminate();
  }

  /** It is elsewhere from now on, in that life. Its neighbours will hear of that as of any other life; its thread here ends without a word. */
  release({ rank, incarnation }: { readonly rank: number; readonly incarnation: number }): void {
    const { memory, tcp, threads } = this.#node;
    const thread = threads.get(rank);
    this.#node.released.add(lifeText(rank, this.#node.incarnationOf(rank)));
    this.#node.adopted.delete(rank);
    memory.release(rank, thread !== undefined);
    tcp?.release(rank);
    this.#node.lives?.returned({ rank, incarnation });
    void thread?.terminate();
  }

  /** Ranks that the job did not start with, when their programs are here. */
  begin({ order, ranks: given }: StartRanks): void {
    const ranks = given.map((rank) => ({ ...rank, program: this.#node.files.localProgram(rank.program) }));
    const arriving = ranks.map(({ program }) => this.#node.files.bringProgram(program, formOf(program)));
    const start = (problems: readonly (string | null)[]): void => {
      const problem = problems.find((it) => it !== null && it !== "") ?? this.#startNow(ranks);
      this.#node.send({ kind: "ranks-ready", order, problem });
    };
    if (arriving.every((it) => it === null)) start([]);
    else void Promise.all(arriving).then(start);
  }

  /** Empty, or why they cannot be; then none of them is there. */
  #startNow(ranks: readonly NewRank[]): string {
    const newcomers = tryToAllocate(() => this.#node.threads.makeRoom(ranks.map(({ rank }) => rank)));
    if (newcomers === undefined) return shortageOf(`their ${this.#node.setup.memoryMb} MB of memory each`);
    // Before other ranks can hear of them: a rank that does looks for their memories.
    this.#introduce(newcomers);
    for (const { rank } of ranks) this.#node.tcp?.rankBorn(rank);
    const memory = this.#node.memory.sharedBy(ranks[0]!.origin.world);
    this.#startThreads(ranks.map((rank) => ({ ...rank, memory })));
    return "";
  }

  #introduce(neighbours: NewNeighbours["neighbours"]): void {
    if (neighbours.length === 0) return;
    for (const thread of this.#node.threads.all) thread.post({ kind: "neighbours", neighbours });
  }

  /** New lives of ranks of this node, in new threads and with new memories: their neighbours live on. */
  async restart({ ranks, recovery, protocolPart, watches }: RestartRanks): Promise<void> {
    for (const rank of ranks) {
      this.#returning.add(rank);
      // A checkpoint that its old life was asked for.
      this.#node.memory.stop(rank, Stop.NO);
    }
    await Promise.all(ranks.map((rank) => this.#node.threads.get(rank)?.terminate()));
    await this.#node.memory.whenSettled();
    const filled = this.#filledClones(recovery.restarts);
    const others = recovery.restarts.filter(({ rank }) => !filled.has(rank));
    if (!(await this.#fetchImages(others)) || this.#leaving) return;
    const { setup } = this.#node;
    const { folders, memoryMb } = setup;
    const newcomers = tryToAllocate(() => this.#node.threads.makeRoom(ranks, (rank) => filled.get(rank)?.memory));
    if (newcomers === undefined) {
      this.#node.send({ kind: "unable", why: shortageOf(`a restarted rank's ${memoryMb} MB of memory`) });
      return;
    }
    this.#introduce(newcomers);
    this.#node.lives?.restart(this.#node.files.localRecovery(recovery));
    for (const [rank, { header, state, bytes }] of filled) this.#node.lives?.arrived(rank, { header, state, bytes });
    this.#node.part?.restart(protocolPart, ranks);
    this.#node.threads.watch(ranks, watches);
    for (const rank of ranks) {
      this.#node.tcp?.rankReturned(rank, this.#node.incarnationOf(rank));
      this.#returning.delete(rank);
    }
    await this.#introduceAdopted(ranks);
    const { shared: memory } = this.#node.memory;
    this.#startThreads(ranks.map((rank) => ({ rank, program: programOf(setup, rank), folders, origin: null, memory })));
    const lives = ranks.map((rank) => ({ rank, incarnation: this.#node.incarnationOf(rank) }));
    this.#node.send({ kind: "ranks-returned", ranks: lives });
    for (const rank of ranks) if (this.#doomed.delete(rank)) void this.#node.threads.get(rank)!.terminate();
  }

  /**
   * Ranks that come from other nodes: those that are here must know that they reach them through memory now, before the first packet comes that way. Otherwise they would answer
   * by the connection to where those were.
   */
  async #introduceAdopted(ranks: readonly number[]): Promise<void> {
    const { memory, adopted } = this.#node;
    const strangers = ranks.filter((rank) => adopted.delete(rank));
    if (strangers.length === 0) return;
    for (const rank of strangers) memory.returned({ rank, incarnation: this.#node.incarnationOf(rank) });
    await memory.whenHeard();
  }

  /** By rank: those whose memories have arrived. */
  #filledClones(restarts: readonly RankRestart[]): Map<number, FilledClone> {
    const filled = new Map<number, FilledClone>();
    for (const { rank, checkpoint } of restarts) {
      const clone = this.#node.clones?.filled(rank, checkpoint) ?? null;
      if (clone !== null) filled.set(rank, clone);
    }
    return filled;
  }

  /** The ranks that this node has when it starts, when their images are here. */
  beginFirst(): void {
    const { setup } = this.#node;
    const { shared: memory } = this.#node.memory;
    const { folders, recovery, thawFrom } = setup;
    const startOf = (rank: number) => ({ rank, program: programOf(setup, rank), folders, origin: null, memory });
    const starting = this.#node.first.map(startOf);
    const restarts = recovery?.restarts ?? [];
    const ranks = starting.map(({ rank }) => rank);
    const frozen = this.#node.files.bringFrozen(thawFrom, ranks);
    if (this.#node.images?.areElsewhere(restarts) === true) void this.#startWhen(starting, this.#fetchImages(restarts));
    else if (frozen === null) this.#startThreads(starting);
    else void this.#startWhen(starting, this.#isGood(frozen));
  }

  async #isGood(arriving: Promise<string>): Promise<boolean> {
    const problem = await arriving;
    if (problem !== "") this.#node.send({ kind: "unable", why: problem });
    return problem === "";
  }

  /** False: they do not start. */
  async #startWhen(starting: readonly StartingRank[], isReady: Promise<boolean>): Promise<void> {
    const ranks = starting.map(({ rank }) => rank);
    for (const rank of ranks) this.#returning.add(rank);
    if (!(await isReady) || this.#leaving) return;
    for (const rank of ranks) this.#returning.delete(rank);
    this.#startThreads(starting);
    for (const rank of ranks) if (this.#doomed.delete(rank)) void this.#node.threads.get(rank)!.terminate();
  }

  /** False: an image cannot be had. Its set begins again with an older one; this life is over. */
  async #fetchImages(restarts: readonly RankRestart[]): Promise<boolean> {
    if (this.#node.images?.areElsewhere(restarts) !== true) return true;
    const problems = await this.#node.images.fetch(restarts);
    for (const { restart, problem } of problems) {
      const { rank, checkpoint } = restart;
      this.#node.send({ kind: "from-rank", rank, message: { kind: "image-unreadable", checkpoint, problem } });
    }
    return problems.length === 0;
  }

  #startThreads(ranks: readonly StartingRank[]): void {
    for (const { rank } of ranks) this.#node.memory.born(rank, this.#node.incarnationOf(rank));
    this.#node.threads.start(ranks);
  }
}

/** The one form in which a spawned program is there. */
function formOf({ bundle }: ProgramPlace): ProgramForm {
  if (bundle.wasm !== "") return "wasm";
  return bundle.script === "" ? "module" : "script";
}
