// Nodes and memories of a job under channel memories die, for scripts/kills.mjs: one or several of them at once, all nodes at once, again and again,
// also while the job starts and while others are started in their places.
import { nodeCalled, processes, signal } from "./kill-harm.mjs";

/** A job, and what falls when. */
export function volatileCase({ random, logEntry }) {
  const oneOf = (all) => all[Math.floor(random() * all.length)];
  const [ranks, nodes] = oneOf([
    [4, 2],
    [4, 4],
    [8, 4],
  ]);
  const memories = 1 + Math.floor(random() * 3);
  const checkpointEveryMs = oneOf([0, 300, 1_000]);
  const kills = 1 + Math.floor(random() * 10);
  const harm = new NodesAndMemories({ random, nodes, kills, fromStart: random() < 0.3 }, logEntry);
  const times = checkpointEveryMs > 0 ? { checkpointEveryMs } : {};
  const what = `volatile, ${memories} memories, up to ${kills}`;
  return { ranks, nodes, protocol: "channel-memory", memories, ...times, plan: "", harm, what };
}

class NodesAndMemories {
  done = [];
  #options;
  #log;
  #timer;

  constructor(options, logEntry) {
    this.#options = options;
    this.#log = logEntry;
  }

  begin() {
    if (this.#options.fromStart) this.#schedule();
  }

  end() {
    clearTimeout(this.#timer);
  }

  event(event) {
    if (event.kind === "started" && !this.#options.fromStart) this.#schedule();
    if ("message" in event) this.#log(`job: ${event.message}`);
  }

  #schedule() {
    const { random, kills } = this.#options;
    this.#timer = setTimeout(
      () => {
        this.#strike();
        if (this.done.length < kills) this.#schedule();
      },
      50 + random() * 1_400,
    );
  }

  #strike() {
    const { random, nodes } = this.#options;
    const node = () => nodeCalled(Math.floor(random() * nodes));
    const memories = processes("memory");
    const memory = () => memories[Math.floor(random() * memories.length)];
    const kinds = {
      "a node": () => [node()],
      "two nodes": () => [node(), node()],
      "all nodes": () => processes("node"),
      "a memory": () => [memory()],
      "a node and a memory": () => [node(), memory()],
      "all nodes and memories": () => [...processes("node"), ...memories],
    };
    const draw = ["a node", "a node", "a node", ...Object.keys(kinds)];
    const what = draw[Math.floor(random() * draw.length)];
    const struck = kinds[what]().filter((pid) => signal(pid, "SIGKILL"));
    if (struck.length === 0) return;
    this.#log(`SIGKILL to ${what} (${struck.join(", ")})`);
    this.done.push(what);
  }
}
