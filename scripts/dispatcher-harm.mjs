// The dispatcher dies while ranks are moved, for scripts/kills.mjs. It is the command itself: `banyan run` is a process of its own here, an order
// comes from `banyan move`, SIGKILL up to 600 ms later. All other processes of the job must go by themselves. Where the job's folder has
// everything `banyan resume` goes on, and may be killed too; else that was the end.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Nodes hear of it at once; what they have under way may take a moment. */
const goneMsMax = 15_000;

/** Options of a job whose dispatcher is killed so often. */
export function dispatcherCase({ random, logEntry }) {
  const isKept = random() < 0.7;
  const options = isKept
    ? { ranks: 4, nodes: 2, protocol: "logging", checkpointEveryMs: 400 }
    : { ranks: 2, nodes: 2, replicas: 2, protocol: "replication" };
  const kills = isKept ? 1 + Math.floor(random() * 2) : 1;
  const what = `moves-dispatcher, ${options.protocol}, ${kills} times`;
  return { ...options, plan: "", harm: new DispatcherDeaths({ random, kills, isKept }, logEntry), what };
}

class DispatcherDeaths {
  done = [];
  ordered = 0;
  refused = 0;
  moved = 0;
  #random;
  #kills;
  #isKept;
  #log;
  #isAllGone = true;

  constructor({ random, kills, isKept }, logEntry) {
    this.#random = random;
    this.#kills = kills;
    this.#isKept = isKept;
    this.#log = logEntry;
  }

  begin() {}
  end() {}
  event() {}

  mayEnd({ code }) {
    return !this.#isKept && this.done.length > 0 && code === 137 && this.#isAllGone;
  }

  /** As `runOnce`: one rank of the program prints. */
  async play(module, { ranks, nodes, args, timeoutMs, jobFolder, checkpointEveryMs }) {
    const startMs = performance.now();
    const mark = `banyan-kills-${process.pid}-${Math.floor(startMs)}`;
    const run = { out: "", said: [], code: null };
    const how = this.#isKept
      ? ["--protocol", "logging", "--checkpoint-every", `${checkpointEveryMs}ms`, "--job-dir", jobFolder]
      : ["--protocol", "replication", "--sustain", "--spares", "1"];
    const first = ["run", "-n", `${ranks}`, "--nodes", `${nodes}`, ...how, module, ...args];
    for (let life = 0; life === 0 || (this.#isKept && run.code === null); life++) {
      const isKilled = this.done.length < this.#kills;
      const child = this.#start(life === 0 ? first : ["resume", jobFolder], { mark, run });
      if (isKilled) await this.#killInMove(child, ranks, nodes);
      const timer = setTimeout(() => child.process.kill("SIGINT"), timeoutMs);
      run.code = await child.ended;
      clearTimeout(timer);
      if (performance.now() - startMs > timeoutMs) run.code = 124;
      if (run.code === null) await this.#allGone(mark, run);
      if (!this.#isAllGone) break;
    }
    const lines = run.out.split("\n").slice(0, run.out.endsWith("\n") ? -1 : undefined);
    const ofRanks = Array.from({ length: ranks }, (_, rank) => (rank === 0 ? lines : []));
    return { lines: ofRanks, said: run.said, code: run.code ?? 137, ms: performance.now() - startMs };
  }

  #start(words, { mark, run }) {
    const child = spawn(process.execPath, ["bin/banyan.js", ...words], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, BANYAN_KILLS_MARK: mark },
    });
    child.stdout.setEncoding("utf8").on("data", (text) => {
      run.out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      for (const line of text.split("\n").filter(Boolean)) {
        run.said.push(line);
        this.#log(line);
        if (/ is on node \d+ now|are on node \d+ now/.test(line)) this.moved++;
      }
    });
    return { process: child, ended: new Promise((resolve) => child.on("close", (code) => resolve(code))) };
  }

  async #killInMove({ process: child, ended }, ranks, nodes) {
    const below = (count) => Math.floor(this.#random() * count);
    const [beforeMs, afterMs] = [1_200 + this.#random() * 2_500, this.#random() * 600];
    const order = this.#random() < 0.7 ? ["--rank", `${below(ranks)}`] : ["--drain", `${below(nodes)}`];
    await Promise.race([pause(beforeMs), ended]);
    if (child.exitCode !== null) return;
    const asked = this.#start(["move", `${child.pid}`, ...order], { mark: "none", run: { out: "", said: [] } });
    const code = await asked.ended;
    this.ordered++;
    if (code !== 0) this.refused++;
    this.#log(`move ${order.join(" ")}: ${code === 0 ? "ordered" : "refused"}`);
    await Promise.race([pause(afterMs), ended]);
    if (child.exitCode !== null || !child.kill("SIGKILL")) return;
    this.#log(`SIGKILL to the dispatcher (${child.pid})`);
    this.done.push("dispatcher");
  }

  /** Everything that the dispatcher had started, and its nodes. */
  async #allGone(mark, run) {
    const endMs = performance.now() + goneMsMax;
    while (marked(mark).length > 0 && performance.now() < endMs) await pause(50);
    const left = marked(mark);
    this.#isAllGone = left.length === 0;
    if (!this.#isAllGone) run.said.push(`Cannot go on: processes ${left.join(", ")} have outlived the dispatcher`);
  }
}

function marked(mark) {
  return readdirSync("/proc").filter((entry) => {
    try {
      return /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/environ`, "latin1").includes(mark);
    } catch {
      return false;
    }
  });
}
