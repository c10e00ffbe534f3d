/** Plays a scenario of replicas that is written down (scenario-text.ts): nothing is left to chance, and everything that processes say to each other is traced. */
import type { RecordId } from "../../core/base/brand.ts";
import { ANY_SOURCE } from "../../core/base/constants.ts";
import { Membership } from "../../core/ft/replication/membership.ts";
import { R_STATUS_SOURCE, SendMode } from "../../core/request/records.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import { World } from "../world.ts";
import { certainCost } from "./certain-cost.ts";
import { anyone, type ReplicaCall, type ReplicaScenario } from "./scenario-text.ts";
import { tracedReplica } from "./traced-replica.ts";

const nsOfUs = 1_000;
const tag = 1;
/** Of the world communicator. */
const context = 4;

/** What happens, line by line; the last ones say who waits for ever. */
export function playReplicas({ ranks, replicas, calls, deaths }: ReplicaScenario): string[] {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const plan = new Array<number>(ranks).fill(replicas);
  const nameOf = (process: number): string => `${process % ranks}.${Math.floor(process / ranks)}`;
  const world = new World({
    ranks,
    nodes: ranks * replicas,
    replicas: plan,
    cost: certainCost,
    protocol: (process) => (ports) => {
      const place = { rank: process % ranks, replica: Math.floor(process / ranks) };
      return tracedReplica({ ...place, membership: new Membership(plan) }, ports, write);
    },
    listener: (line) => {
      const [, dead] = /^\s*\d+ crash (\d+)/.exec(line) ?? [];
      if (dead !== undefined) write(`${nameOf(Number(dead))} dies`);
    },
  });
  world.startAll(function* (process) {
    const requests = new Map<string, RecordId>();
    for (const { ranks: named, call, text } of calls) {
      if (!named.includes(process.rank)) continue;
      const end = yield* make(process, call, requests);
      write(`${nameOf(process.number)} ${text}${end}`);
    }
  });
  for (const { rank, replica, us } of deaths) world.planCrash(us * nsOfUs, replica * ranks + rank);
  const stuck = world.run().map(({ rank, waitsFor }) => `rank ${rank} waits for ever: ${waitsFor}`);
  return [...lines, ...stuck];
}

/** How the call ended. */
function* make(process: SimProcess, call: ReplicaCall, requests: Map<string, RecordId>): Steps<string> {
  switch (call.kind) {
    case "send":
    case "receive": {
      const request = start(process, call);
      yield request;
      return overText(process, call.kind === "receive", request);
    }
    case "isend":
    case "irecv":
      requests.set(call.name, start(process, call));
      return "";
    case "wait": {
      const request = requests.get(call.name);
      if (request === undefined) return ": there is no such request";
      requests.delete(call.name);
      yield request;
      return overText(process, false, request);
    }
    case "compute":
      yield process.compute(call.us * nsOfUs);
      return "";
  }
}

function start({ engine, memory }: SimProcess, call: Extract<ReplicaCall, { peer: number }>): RecordId {
  const { kind, peer, bytes } = call;
  const at = memory.allocate(bytes);
  return kind === "send" || kind === "isend"
    ? engine.startSend(at, bytes, peer, tag, context, SendMode.STANDARD)
    : engine.startReceive(at, bytes, peer === anyone ? ANY_SOURCE : peer, tag, context);
}

function overText({ engine }: SimProcess, isReceive: boolean, request: RecordId): string {
  const source = engine.records.get(request, R_STATUS_SOURCE);
  engine.giveBack(request);
  return isReceive ? `: from rank ${source}` : "";
}
