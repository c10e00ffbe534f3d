// The command dies, for scripts/kills.mjs: `banyan run` is a process of its own here. The dispatcher alone while ranks are moved, by an order of `banyan move` and SIGKILL up to 600 ms
// later; all other processes of the job must go by themselves. Or every process of the job at once, as in a power cut. Where the job's folder has everything `banyan resume` goes on, and
// may be killed too; else that was the end.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { signal } from "./kill-harm.mjs";

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
  const words = isKept ? ["--checkpoint-every", "400ms"] : ["--sustain", "--spares", "1"];
  const what = `moves-dispatcher, ${options.protocol}, ${kills} times`;
  const harm = new CommandDeaths({ random, kills, isKept, words, strike: moveAndKill }, logEntry);
  return { ...options, plan: "", harm, what };
}

/** Options of a job all of whose processes are killed so often. */
export function powerCutCase({ random, logEntry }) {
  const oneOf = (all) => all[Math.floor(random() * all.length)];
  const memories = 1 + Math.floor(random() * 3);
  const checkpointEveryMs = oneOf([0, 400, 1_000]);
  const kills = 1 + Math.floor(random() * 4);
  const durable = oneOf(["process", "process", "disk"]);
  const words = ["--memories", `${memories}`, "--durable", durable];
  if (checkpointEveryMs > 0) words.push("--checkpoint-every", `${checkpointEveryMs}ms`);
  const harm = new CommandDeaths({ random, kills, isKept: true, words, strike: killAll }, logEntry);
  const what = ["volatile-resume", `${memories} memories`, `durable ${durable}`, `${kills} times`].join(", ");
  const times = checkpointEveryMs > 0 ? { checkpointEveryMs } : {};
  return { ranks: 4, nodes: oneOf([2, 4]), protocol: "channel-memory", ...times, plan: "", harm, what };
}

class CommandDeaths {
  done = [];
  ordered = 0;
  refused = 0;
  moved = 0;
  #random;
  #kills;
  #isKept;
  /** Of the command line, behind the protocol. */
  #words;
  #strike;
  #log;
  #isAllGone = true;

  constructor({ random, kills, isKept, words, strike }, logEntry) {
    this.#random = random;
    this.#kills = kills;
    this.#isKept = isKept;
    this.#words = words;
    this.#strike = strike;
    this.#log = logEntry;
  }

  begin() {}
  end() {}
  event() {}

  mayEnd({ code }) {
    return !this.#isKept && this.done.length > 0 && code === 137 && this.#isAllGone;
  }

  /** As `runOnce`: one rank of the program prints. */
  async play(module, { ranks, nodes, protocol, args, timeoutMs, jobFolder }) {
    const startMs = performance.now();
    const mark = `banyan-kills-${process.pid}-${Math.floor(startMs)}`;
    const run = { out: "", said: [], code: null };
    const how = ["--protocol", protocol, ...this.#words, ...(this.#isKept ? ["--job-dir", jobFolder] : [])];
    const first = ["run", "-n", `${ranks}`, "--nodes", `${nodes}`, ...how, module, ...args];
    for (let life = 0; life === 0 || (this.#isKept && run.code === null); life++) {
      const isKilled = this.done.length < this.#kills;
      // Killed before it had begun: a line says so, and that it is to be run again.
      const isAnew = life === 0 || hasNotBegun(run);
      if (isAnew) rmSync(jobFolder, { recursive: true, force: true });
      const child = this.#start(isAnew ? first : ["resume", jobFolder], { mark, run });
      if (isKilled) await this.#strike(child, { ranks, nodes, mark, harm: this });
      const timer = setTimeout(() => child.process.kill("SIGINT"), timeoutMs);
      run.code = await child.ended;
      clearTimeout(timer);
      if (performance.now() - startMs > timeoutMs) run.code = 124;
      // Killed when all was done and removed: there is nothing to go on with, and the output says whether that is right.
      if (life > 0 && run.code === 1 && /one that has ended well leaves nothing/.test(run.said.at(-1))) run.code = 0;
      if (run.code === 1 && hasNotBegun(run)) run.code = null;
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

  random() {
    return this.#random();
  }

  log(text) {
    this.#log(text);
  }

  /** `banyan move` with those words. */
  async order(pid, words) {
    const asked = this.#start(["move", `${pid}`, ...words], { mark: "none", run: { out: "", said: [] } });
    const code = await asked.ended;
    this.ordered++;
    if (code !== 0) this.refused++;
    this.#log(`move ${words.join(" ")}: ${code === 0 ? "ordered" : "refused"}`);
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

async function moveAndKill({ process: child, ended }, { ranks, nodes, harm }) {
  const below = (count) => Math.floor(harm.random() * count);
  const [beforeMs, afterMs] = [1_200 + harm.random() * 2_500, harm.random() * 600];
  const words = harm.random() < 0.7 ? ["--rank", `${below(ranks)}`] : ["--drain", `${below(nodes)}`];
  await Promise.race([pause(beforeMs), ended]);
  if (child.exitCode !== null) return;
  await harm.order(child.pid, words);
  await Promise.race([pause(afterMs), ended]);
  if (child.exitCode !== null || !child.kill("SIGKILL")) return;
  harm.log(`SIGKILL to the dispatcher (${child.pid})`);
  harm.done.push("dispatcher");
}

/** Also while it starts, or resumes. */
async function killAll({ process: child, ended }, { mark, harm }) {
  await Promise.race([pause(100 + harm.random() * 3_500), ended]);
  if (child.exitCode !== null) return;
  const pids = marked(mark).map(Number);
  for (const pid of pids) signal(pid, "SIGKILL");
  harm.log(`SIGKILL to ${pids.length} processes`);
  harm.done.push("all");
}

const hasNotBegun = ({ out, said }) => out === "" && /had not begun|no such folder/.test(said.at(-1));

function marked(mark) {
  return readdirSync("/proc").filter((entry) => {
    try {
      return /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/environ`, "latin1").includes(mark);
    } catch {
      return false;
    }
  });
}
