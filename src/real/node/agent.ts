/**
 * The node: an operating-system process that hosts ranks as threads, started by the dispatcher. Its main thread starts and
 * watches the threads, carries their output, and gives signs of life; it does nothing that takes long.
 *
 * It never outlives the dispatcher: when the channel closes it is gone within milliseconds.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { assert, unreachable } from "../../core/base/assert.ts";
import { ranksOfNode } from "../../core/service/placement.ts";
import { build, type FromNode, type Setup, type ToNode } from "./messages.ts";
import { NodeMemory } from "./node-memory.ts";
import { bellOf, createNodeWords, onBell, openGate } from "./node-words.ts";
import { OutputRelay } from "./output-relay.ts";
import { keepCache, loadRankCode } from "./rank-code.ts";
import { RankThread } from "./rank-thread.ts";

/** Threads that have not stopped by then are stuck in native code, and only the end of the process stops them. */
const terminateMsMax = 1000;

class Agent {
  readonly #setup: Setup;
  readonly #words = createNodeWords();
  readonly #code = loadRankCode();
  readonly #memory: NodeMemory;
  readonly #threads = new Map<number, RankThread>();
  readonly #relay = new OutputRelay(send);
  #leaving = false;

  constructor(setup: Setup) {
    this.#setup = setup;
    process.title = `banyan-node ${setup.node}`;
    this.#memory = new NodeMemory({ node: setup.node, nodeOf: setup.nodeOf, memoryMb: setup.memoryMb });
    setInterval(() => send({ kind: "heartbeat" }), setup.heartbeatMs);
    for (const rank of ranksOfNode(setup.nodeOf, setup.node)) this.#startThread(rank);
    void onBell(bellOf(this.#words), () => this.#relay.relay());
    send({ kind: "ready", build });
  }

  handle(message: ToNode): void {
    switch (message.kind) {
      case "setup":
        throw new Error("Banyan is wrong here: a node is set up once. Please report it.");
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
        break;
      case "end":
        void this.#leave();
        break;
      default:
        unreachable(message);
    }
  }

  #startThread(rank: number): void {
    const { nodeOf, protocol, program, traceFolder, heapMb } = this.#setup;
    const incarnation = 0;
    const traceFile = traceFolder === "" ? "" : join(traceFolder, `${rank}.trace`);
    const setup = {
      code: this.#code,
      rank,
      incarnation,
      nodeOf,
      protocol,
      program,
      traceFile,
      memory: this.#memory.shared,
      words: this.#words,
    };
    this.#memory.born(rank, incarnation);
    const thread = new RankThread(
      { setup, heapMb },
      {
        said: (message) => {
          if (message.kind === "runs") send({ kind: "rank-started", rank });
          else if (message.kind === "compiled") keepCache(this.#code, message.cache);
          else send({ kind: "from-rank", rank, message });
        },
        ended: (ending) => {
          this.#threads.delete(rank);
          this.#relay.relay();
          if (ending.kind === "returned") this.#memory.finished(rank);
          else this.#memory.died(rank);
          send({ kind: "rank-ended", rank, incarnation, ending });
        },
      },
    );
    this.#threads.set(rank, thread);
    this.#relay.add(rank, thread.lines);
  }

  async #leave(): Promise<void> {
    if (this.#leaving) return;
    this.#leaving = true;
    const running = [...this.#threads.values()];
    const stuck = setTimeout(() => this.#bye(killSelf), terminateMsMax);
    await Promise.all(running.map((thread) => thread.terminate()));
    clearTimeout(stuck);
    // Ranks that were cut short may have left programs of their own running; those that ended in order meant to.
    this.#bye(running.length > 0 ? killSelf : () => process.exit(0));
  }

  #bye(then: () => never): void {
    this.#relay.relayAll();
    send({ kind: "bye" }, then);
  }
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

let agent: Agent | undefined;
process.on("disconnect", abandoned);
process.on("message", (message: ToNode) => {
  if (agent !== undefined) agent.handle(message);
  else {
    assert(message.kind === "setup", "the first message to a node is its setup");
    agent = new Agent(message);
  }
});
