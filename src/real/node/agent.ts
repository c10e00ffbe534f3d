/**
 * The node: an operating-system process that hosts ranks as threads, started by the dispatcher. Its main thread starts and
 * watches the threads, carries their output, and gives signs of life; it does nothing that takes long.
 *
 * It never outlives the dispatcher: when the channel closes it is gone within milliseconds.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { unreachable } from "../../core/base/assert.ts";
import { ranksOfNode } from "../../core/service/placement.ts";
import { Stop } from "../transport/layout.ts";
import { Handover } from "../transport/tcp/handover.ts";
import { TcpHost } from "../transport/tcp/tcp-host.ts";
import { startCThread } from "./c-rank-thread.ts";
import { build, type FromNode, type RankSetup, type Setup, type ToNode } from "./messages.ts";
import { NodeMemory } from "./node-memory.ts";
import { bellOf, createNodeWords, onBell, openGate } from "./node-words.ts";
import { OutputRelay } from "./output-relay.ts";
import { keepCache, loadRankCode, type RankCode } from "./rank-code.ts";
import { type RankInThread, RankThread, type RankThreadEvents } from "./rank-thread.ts";

/** Nodes of one machine: nobody else can reach them. */
const loopback = "127.0.0.1";

/** Rings and boards need little; a C program's buffers are in its own memory. */
const cNodeMemoryMb = 256;
/** Deep recursion in C is deep recursion here: 250 000 calls. */
const cStackMb = 16;

/** Nobody is restarted yet. */
const firstIncarnation = 0;

/** Threads that have not stopped by then are stuck in native code, and only the end of the process stops them. */
const terminateMsMax = 1000;

class Agent {
  readonly #setup: Setup;
  readonly #words = createNodeWords();
  readonly #code: RankCode;
  /** Of the ranks of a C program, in their order. */
  readonly #programMemories: readonly WebAssembly.Memory[];
  readonly #memory: NodeMemory;
  /** Connections to other nodes; null in a job of one node. */
  readonly #tcp: TcpHost | null;
  readonly #threads = new Map<number, RankInThread>();
  readonly #relay = new OutputRelay(send);
  #leaving = false;

  constructor(setup: Setup) {
    this.#setup = setup;
    const isC = setup.program.language === "c";
    this.#code = loadRankCode(isC ? "c-rank" : "rank");
    process.title = `banyan-node ${setup.node}`;
    const { node, nodeOf, memoryMb, job, port } = setup;
    const ranksHere = ranksOfNode(nodeOf, node);
    this.#programMemories = isC ? ranksHere.map(() => newProgramMemory(memoryMb)) : [];
    // The baseline compiler's code is never replaced while it runs, and `main` may run for hours (facts: 2 to 4 times slower).
    if (isC) setFlagsFromString("--no-liftoff");
    this.#tcp =
      ranksHere.length === nodeOf.length
        ? null
        : new TcpHost({
            ...{ job, ranks: nodeOf.length, ranksHere, port },
            ring: (place) => this.#memory.ring(place),
            report: (event) => send({ kind: "connections", event }),
          });
    const bells = this.#tcp === null ? null : new Handover(this.#tcp.handover);
    this.#memory = new NodeMemory({
      node,
      nodeOf,
      memoryMb: isC ? cNodeMemoryMb : memoryMb,
      wakeElsewhere: (place) => bells?.wake(place),
    });
    setInterval(() => send({ kind: "heartbeat" }), setup.heartbeatMs);
    this.#startThreads(ranksHere);
    void onBell(bellOf(this.#words), () => this.#relay.relay());
    void this.#getReady();
  }

  async #getReady(): Promise<void> {
    const listening = await this.#tcp?.listen();
    if (listening?.ok === false) send({ kind: "unable", why: listening.reason });
    else {
      const address = listening === undefined ? null : { host: loopback, port: listening.port };
      send({ kind: "ready", build, address });
    }
  }

  handle(message: ToNode): void {
    switch (message.kind) {
      case "setup":
        throw new Error("Banyan is wrong here: a node is set up once. Please report it.");
      case "contacts":
        this.#tcp?.setAddressBook(message.addresses);
        break;
      case "run":
        openGate(this.#words, message.form);
        break;
      case "written":
        this.#relay.written(message.bytes);
        break;
      case "input":
        this.#threads.get(0)?.post(message);
        break;
      case "death":
        this.#memory.death(message);
        if (!this.#threads.has(message.rank)) this.#tcp?.peerFailed(message.rank);
        break;
      case "freeze":
        for (const rank of this.#threads.keys()) this.#memory.stop(rank, Stop.STOP);
        break;
      case "frozen":
        for (const rank of this.#threads.keys()) this.#memory.stop(rank, message.isGood ? Stop.END : Stop.NO);
        break;
      case "end":
        void this.#leave();
        break;
      default:
        unreachable(message);
    }
  }

  #startThreads(ranks: readonly number[]): void {
    const { program, ranksPerThread, heapMb } = this.#setup;
    for (const rank of ranks) this.#memory.born(rank, firstIncarnation);
    if (program.language === "typescript") {
      for (const rank of ranks) this.#add(new RankThread({ setup: this.#setupOf(rank), heapMb }, this.#eventsOf(rank)));
      return;
    }
    for (let first = 0; first < ranks.length; first += ranksPerThread) {
      const together = ranks.slice(first, first + ranksPerThread);
      const options = together.map((rank) => ({ setup: this.#setupOf(rank), events: this.#eventsOf(rank) }));
      for (const thread of startCThread(options, cStackMb)) this.#add(thread);
    }
  }

  #add(thread: RankInThread): void {
    this.#threads.set(thread.rank, thread);
    this.#relay.add(thread.rank, thread.lines);
  }

  #setupOf(rank: number): Omit<RankSetup, "lines"> {
    const { nodeOf, protocol, program, traceFolder, folders, freezeTo, thawFrom, job } = this.#setup;
    return {
      code: this.#code,
      run: job.id,
      rank,
      incarnation: firstIncarnation,
      nodeOf,
      protocol,
      program,
      traceFile: traceFolder === "" ? "" : join(traceFolder, `${rank}.trace`),
      memory: this.#memory.shared,
      handover: this.#tcp?.handover ?? null,
      words: this.#words,
      programMemories: this.#programMemories,
      folders,
      freezeTo,
      thawFrom,
    };
  }

  #eventsOf(rank: number): RankThreadEvents {
    return {
      said: (message) => {
        switch (message.kind) {
          case "runs":
            send({ kind: "rank-started", rank });
            break;
          case "compiled":
            keepCache(this.#code, message.cache);
            break;
          case "abort":
          case "result":
          case "input-wanted":
          case "stopped":
          case "image":
            send({ kind: "from-rank", rank, message });
            break;
          default:
            this.#tcp?.handle(message);
        }
      },
      ended: (ending) => {
        this.#threads.delete(rank);
        this.#relay.relay();
        if (ending.kind === "returned" || ending.kind === "frozen") {
          this.#memory.finished(rank);
          this.#tcp?.rankFinished(rank);
        } else {
          this.#memory.died(rank);
          this.#tcp?.rankDied(rank);
        }
        send({ kind: "rank-ended", rank, incarnation: firstIncarnation, ending });
      },
    };
  }

  async #leave(): Promise<void> {
    if (this.#leaving) return;
    this.#leaving = true;
    const running = [...this.#threads.values()];
    const stuck = setTimeout(() => this.#bye(killSelf), terminateMsMax);
    await Promise.all(running.map((thread) => thread.terminate()));
    clearTimeout(stuck);
    this.#tcp?.close();
    // Ranks that were cut short may have left programs of their own running; those that ended in order meant to.
    this.#bye(running.length > 0 ? killSelf : () => process.exit(0));
  }

  #bye(then: () => never): void {
    this.#relay.relayAll();
    send({ kind: "bye" }, then);
  }
}

function newProgramMemory(megabytes: number): WebAssembly.Memory {
  const pages = megabytes * 16;
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

function send(message: FromNode, sent?: () => void): void {
  // A closed channel shows as `disconnect`; until then there is nothing to do about it here.
  process.send?.(message, undefined, undefined, () => sent?.());
}

/**
 * Ends the node and every program its ranks have started: they are one process group. (`process.exit` would wait for the
 * threads, and one in native code never comes.)
 */
function killSelf(): never {
  process.kill(0, "SIGKILL");
  for (;;);
}

/** The dispatcher is gone: nobody can be told anything, so nothing is worth finishing. The job's folder is the only argument. */
function abandoned(): never {
  rmSync(process.argv[2]!, { recursive: true, force: true });
  return killSelf();
}

/**
 * Every rank is an isolate of its own and compiles its own code, so a short program would run in the interpreter for most of
 * its life. A smaller budget makes V8 optimise sooner (8-byte allreduce of 8 ranks on 2 cores after 3000 rounds: 10 to 13 µs
 * instead of 33 to 53; 10 000 is too little, code is optimised before it has seen enough). Must be said before a thread starts.
 * Later versions of V8 do not know the flag, and would complain to the user.
 */
if (Number.parseInt(process.versions.v8, 10) <= 13) setFlagsFromString("--interrupt-budget=30000");

let agent: Agent | undefined;
process.on("disconnect", abandoned);
process.on("message", (message: ToNode) => {
  if (agent !== undefined) agent.handle(message);
  else if (message.kind === "setup") agent = start(message);
  // It could not be set up, and has said so.
  else if (message.kind === "end") process.exit(0);
});

function start(setup: Setup): Agent | undefined {
  try {
    return new Agent(setup);
  } catch (error) {
    // Address space that the machine, or a limit of the user's, does not give.
    if (!(error instanceof RangeError)) throw error;
    const why = `its ${setup.memoryMb} MB of shared memory cannot be had; give less with --memory`;
    send({ kind: "unable", why });
    return undefined;
  }
}
