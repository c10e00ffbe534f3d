// Harm that no fault plan can do to a job launched by this process: signals from outside to processes of the job, for
// scripts/kills.mjs. One job at a time; its nodes and services are children of this process.
import { existsSync, readdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";

/** Children of this process whose title begins with this: nodes, spares among them, also before they have a name. */
export function processes(kind) {
  const isOfKind = {
    node: /agent\.cjs|^banyan-node/,
    spare: /^banyan-node spare/,
    logger: /^banyan-logger\0*$/,
    server: /^banyan-checkpoint-server/,
    memory: /^banyan memory \d/,
  }[kind];
  return readdirSync("/proc/self/task")
    .flatMap((thread) => textOf(`/proc/self/task/${thread}/children`).split(" ").filter(Boolean).map(Number))
    .filter((pid) => isOfKind.test(textOf(`/proc/${pid}/cmdline`)));
}

/** The process of a node that has its name, or undefined. */
export const nodeCalled = (node) =>
  processes("node").find((pid) => new RegExp(`^banyan-node ${node}\\b`).test(textOf(`/proc/${pid}/cmdline`)));

function textOf(path) {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** False: there is no such process any more. */
export function signal(pid, name) {
  try {
    return pid !== undefined && process.kill(pid, name);
  } catch {
    return false;
  }
}

/**
 * The kinds of harm: what is done while a job runs. `begin` is called before the job is launched, `event` with every event of
 * the job, `end` when it is over. `done` lists the harm that was done.
 */
export const harms = {
  /** Nodes, named or not, before all ranks have begun. */
  starting: ({ random, kills }) =>
    harm({
      everyMs: () => 20 + random() * 300,
      from: "launch",
      until: "started",
      times: kills,
      act: (done) => {
        const found = processes("node");
        if (signal(found[Math.floor(random() * found.length)], "SIGKILL")) done("node");
      },
    }),
  /** One node after the other, or any, all the time. */
  soak: ({ random, kills, nodes, everyMs, isRoundRobin }) => {
    let next = 0;
    return harm({
      everyMs: () => everyMs,
      times: kills,
      act: (done) => {
        const node = isRoundRobin ? next++ % nodes : Math.floor(random() * nodes);
        if (signal(nodeCalled(node), "SIGKILL")) done(`node ${node}`);
      },
    });
  },
  /** Nodes and services, one soon after the other. */
  services: ({ random, kills, nodes, everyMs }) => {
    let turn = 0;
    return harm({
      everyMs: () => everyMs,
      times: kills,
      act: (done) => {
        const kind = ["logger", "node", "server", "node"][turn++ % 4];
        const found = kind === "node" ? [nodeCalled(Math.floor(random() * nodes))] : processes(kind);
        const how = kind === "logger" && random() < 0.3 ? "SIGSTOP" : "SIGKILL";
        if (signal(found[Math.floor(random() * found.length)], how))
          done(`${kind}${how === "SIGSTOP" ? " stopped" : ""}`);
      },
    });
  },
  /** The event logger, killed or stopped, and a node in the same instant or a moment later, again and again. */
  together: ({ random, kills, nodes, everyMs }) =>
    harm({
      everyMs: () => everyMs,
      times: kills,
      act: (done) => {
        const how = random() < 0.3 ? "SIGSTOP" : "SIGKILL";
        if (signal(processes("logger")[0], how)) done(how === "SIGSTOP" ? "logger stopped" : "logger");
        const node = Math.floor(random() * nodes);
        const kill = () => {
          if (signal(nodeCalled(node), "SIGKILL")) done(`node ${node}`);
        };
        const afterMs = [0, 0, 100, 500][Math.floor(random() * 4)];
        if (afterMs === 0) kill();
        else setTimeout(kill, afterMs);
      },
    }),
  /** The newest committed image of a set, and then its node: the set continues from the one before. */
  damaged: ({ random, folder, setOfNode, nodes }) => {
    const done = [];
    const committed = new Map();
    return {
      done,
      begin() {},
      end() {},
      event(event) {
        if (event.kind !== "checkpoint" || done.length > 0) return;
        committed.set(event.set, [...(committed.get(event.set) ?? []), event.number]);
        const node = Math.floor(random() * nodes);
        const number = committed.get(setOfNode(node))?.at(-1);
        if (number === undefined || committed.get(setOfNode(node)).length < 2) return;
        const job = readdirSync(folder).find((name) => existsSync(join(folder, name, "checkpoints")));
        const images = join(folder, job ?? "", "checkpoints", `set-${setOfNode(node)}`, `${number}`);
        const pid = nodeCalled(node);
        if (!existsSync(images) || !signal(pid, "SIGSTOP")) return;
        for (const name of readdirSync(images)) truncateSync(join(images, name), Math.floor(random() * 200));
        signal(pid, "SIGKILL");
        done.push(`node ${node} with its image ${number}`);
      },
    };
  },
};

function harm({ everyMs, times, act, from = "started", until = "never" }) {
  const done = [];
  let timer;
  const schedule = () => {
    timer = setTimeout(() => {
      if (done.length < times) act((what) => done.push(what));
      if (done.length < times) schedule();
    }, everyMs());
  };
  return {
    done,
    begin() {
      if (from === "launch") schedule();
    },
    event({ kind }) {
      if (kind === "started" && from === "started") schedule();
      if (kind === until) clearTimeout(timer);
    },
    end: () => clearTimeout(timer),
  };
}
