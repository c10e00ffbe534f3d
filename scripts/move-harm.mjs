// Ranks that are moved while processes die, for scripts/kills.mjs. Everything is drawn from a seed: the size of the job, its options, and
// the steps. A step is an order to move (`job.move` is `banyan move`; SIGTERM to a node is the same as --drain), a death by SIGKILL, or an
// order and a death within 300 ms of it. Who is hit depends on where ranks are by then: the steps name places in what there is.
import { dispatcherCase } from "./dispatcher-harm.mjs";
import { nodeCalled, processes, signal } from "./kill-harm.mjs";

const sizes = {
  moves: [
    { ranks: 2, nodes: 2, replicas: 2 },
    { ranks: 4, nodes: 4, replicas: 2 },
    { ranks: 2, nodes: 3, replicas: 3 },
  ],
  "moves-logging": [
    { ranks: 4, nodes: 2 },
    { ranks: 4, nodes: 3 },
  ],
  "moves-none": [
    { ranks: 4, nodes: 2 },
    { ranks: 4, nodes: 3 },
  ],
};

export const moveKinds = [...Object.keys(sizes), "moves-dispatcher"];

const afterOrder = ["target", "source", "nobody"];
const victims = { moves: [...afterOrder, "sibling", "spare"], "moves-logging": afterOrder, "moves-none": ["nobody"] };
/** What a step does; "nothing" goes with a death. */
const orders = { moves: 0.65, "moves-logging": 0.75, "moves-none": 1 };
const variants = [{}, { compare: "hash" }, { replication: "mirror" }, { replication: "mirror", compare: "hash" }];

/** A run: options of the job, which program may play in it, and what is done to it. */
export function moveCase(kind, { random, logEntry }) {
  if (kind === "moves-dispatcher") return dispatcherCase({ random, logEntry });
  const oneOf = (all) => all[Math.floor(random() * all.length)];
  const size = oneOf(sizes[kind]);
  const steps = Array.from({ length: 3 + Math.floor(random() * 6) }, () => drawStep(kind, { random, oneOf }));
  // Where nothing is kept a death is the end, and comes last.
  if (kind === "moves-none" && random() < 0.3) Object.assign(steps.at(-1), { victim: "source", isFatal: true });
  const isCareful = kind === "moves" ? random() < 0.8 : kind === "moves-logging";
  const options = {
    moves: () => ({ protocol: "replication", sustain: true, spares: Math.floor(random() * 5), ...oneOf(variants) }),
    "moves-logging": () => ({ protocol: "logging", ...oneOf([{}, { checkpointEveryMs: 400 }]) }),
    "moves-none": () => ({ protocol: "none" }),
  }[kind]();
  const harm = new MovesAndDeaths({ steps, isCareful, replicas: 1, spares: 0, ...size, ...options }, logEntry);
  const words = [
    options.replication,
    options.compare,
    ...(kind === "moves" ? [`${size.replicas} replicas`, `${options.spares} spares`] : []),
    ...(isCareful ? [] : ["careless"]),
  ];
  return { ...size, ...options, plan: "", harm, what: [kind, ...words.filter(Boolean)].join(", ") };
}

function drawStep(kind, { random, oneOf }) {
  const isOrder = random() < orders[kind];
  return {
    gapMs: 100 + random() * 1_400,
    order: isOrder ? oneOf(["rank", "rank", "rank", "drain", "terminate"]) : "nothing",
    victim: isOrder ? oneOf(victims[kind]) : oneOf(kind === "moves" ? ["any", "any", "spare"] : ["any"]),
    afterMs: oneOf([0, random() * 60, random() * 300, random() * 300]),
    subject: random(),
    other: random(),
    /** Where to: null, anywhere. */
    onto: random() < 0.4 ? null : random(),
    isByNode: random() < 0.5,
    isFatal: false,
  };
}

/** It runs, and can stand in for others of its rank. */
const isAlive = ({ state }) => ["computing", "waiting", "over", "finished"].includes(state);
const pick = (all, place) => all[Math.floor(place * all.length)];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const retriesMax = 20;
const retryMs = 150;

class MovesAndDeaths {
  /** Deaths. */
  done = [];
  ordered = 0;
  refused = 0;
  moved = 0;
  #isOver = false;
  #terminated = new Set();
  /** Where the last order leads to, as the job says. */
  #target = null;
  #isFatal = false;
  #options;
  #log;

  constructor(options, logEntry) {
    this.#options = options;
    this.#log = logEntry;
  }

  begin() {}

  end() {
    this.#isOver = true;
  }

  event(event, job) {
    if (event.kind === "started") void this.#run(job);
    if (event.kind === "moved") this.moved++;
    if (event.kind === "whereabouts") for (const line of event.table) this.#log(line);
    if (!("message" in event)) return;
    this.#log(`job: ${event.message}`);
    const target = /will go on on node (\d+)/.exec(event.message);
    if (target !== null) this.#target = Number(target[1]);
  }

  /** Was that the end of a job that could not go on? One line says so. */
  mayEnd({ code, said }) {
    if (code === 0 || code === 124) return false;
    const { isCareful, replicas, protocol } = this.#options;
    if (protocol === "none") return this.#isFatal && said.some((text) => /failed after/.test(text));
    const isLast = said.some((text) => /no replica of ranks? [\d, ]+ is left/.test(text));
    return protocol === "replication" && !isCareful && isLast && this.done.length >= replicas;
  }

  async #run(job) {
    for (const step of this.#options.steps) {
      await pause(step.gapMs);
      if (this.#isOver) return;
      await this.#take(step, job);
    }
  }

  async #take(step, job) {
    const { ranks: standings } = await job.whereabouts();
    const living = standings.filter(isAlive);
    if (this.#isOver || living.length === 0) return;
    const subject = pick(living, step.subject);
    this.#target = null;
    if (step.order !== "nothing" && !(await this.#order(step, subject, job))) return;
    const node = await this.#victimOf(step, subject, standings);
    if (node === null) return;
    const isMoving = ({ rank, node: from }) =>
      step.order !== "nothing" && (step.order === "rank" ? rank === subject.rank : from === subject.node);
    if (node !== "spare" && !this.#mayLose(node, isMoving, standings)) {
      this.#log(`node ${node} is spared: it has the last replica of a rank`);
      return;
    }
    if (step.order !== "nothing") await pause(step.afterMs);
    if (!this.#isOver) this.#kill(node, step);
  }

  /** False: refused. */
  async #order({ order, onto, isByNode }, { rank: process, node }, job) {
    const { ranks, nodes, spares, protocol } = this.#options;
    this.ordered++;
    if (order === "terminate") {
      const pid = nodeCalled(node);
      // A second one would end it at once.
      const isAsked = !this.#terminated.has(pid) && signal(pid, "SIGTERM");
      this.#terminated.add(pid);
      this.#log(`SIGTERM to node ${node}${isAsked ? "" : ": not sent"}`);
      return isAsked;
    }
    const [rank, replica] = [process % ranks, Math.floor(process / ranks)];
    const ofReplica = isByNode || protocol !== "replication" ? { replica: null, from: node } : { replica };
    const moved = order === "drain" ? { kind: "node", node } : { kind: "rank", rank, ...ofReplica };
    const what = order === "drain" ? `drain ${node}` : `move rank ${rank}, replica ${replica}, from node ${node}`;
    let place = onto === null ? null : Math.floor(onto * (nodes + spares + 1 + this.moved));
    // What is refused while others come back is wanted again, and anywhere.
    for (let time = 0; ; time++) {
      const obstacle = job.move({ moved, onto: place });
      const isRefused = obstacle !== "";
      if (time === 0 || !isRefused || time === retriesMax)
        this.#log(`${what}${place === null ? "" : ` to node ${place}`}${isRefused ? `: refused, ${obstacle}` : ""}`);
      if (!isRefused) return true;
      if (time === 0) this.refused++;
      if (time === retriesMax || this.#isOver) return false;
      place = null;
      await pause(retryMs);
    }
  }

  /** A node, "spare", or null: nobody. */
  async #victimOf({ victim, other }, subject, standings) {
    const { ranks } = this.#options;
    const living = standings.filter(isAlive);
    switch (victim) {
      case "nobody":
        return null;
      case "spare":
        return "spare";
      case "source":
        return subject.node;
      case "any":
        return subject.node;
      case "sibling":
        return (
          pick(
            living.filter(({ rank, node }) => rank % ranks === subject.rank % ranks && node !== subject.node),
            other,
          )?.node ?? null
        );
      default:
        // The job says where to: at once, or when a notice of a node has come.
        for (let time = 0; this.#target === null && time < 20 && !this.#isOver; time++) await pause(5);
        return this.#target;
    }
  }

  /** Has every rank that has a replica there, or soon has, another one elsewhere? Where ranks begin again nobody asks. */
  #mayLose(victim, isMoving, standings) {
    const { isCareful, ranks, protocol } = this.#options;
    if (protocol !== "replication" || !isCareful) return true;
    const isThere = (it) => it.node === victim || (isMoving(it) && this.#target === victim);
    const others = standings.filter((it) => isAlive(it) && !isThere(it) && nodeCalled(it.node) !== undefined);
    const held = new Set(standings.filter(isThere).map(({ rank }) => rank % ranks));
    return [...held].every((rank) => others.some((it) => it.rank % ranks === rank));
  }

  #kill(victim, { other, isFatal }) {
    const found = processes("spare");
    // A node that is on its way to its place has no number yet.
    const pid = victim === "spare" ? pick(found, other) : (nodeCalled(victim) ?? pick(found, other));
    const what = victim === "spare" || nodeCalled(victim) === undefined ? "a spare" : `node ${victim}`;
    if (!signal(pid, "SIGKILL")) {
      this.#log(`nothing to kill: ${victim === "spare" ? "no spare" : `no node ${victim}`}`);
      return;
    }
    this.#isFatal ||= isFatal;
    this.#log(`SIGKILL to ${what} (${pid})`);
    this.done.push(what);
  }
}
