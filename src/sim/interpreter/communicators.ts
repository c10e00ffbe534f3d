/** The part of one rank in making communicators. */
import { UNDEFINED } from "../../core/base/constants.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { Group } from "../../core/comm/group.ts";
import { CartesianTopology } from "../../core/comm/topology/cartesian.ts";
import { DistGraphTopology } from "../../core/comm/topology/dist-graph.ts";
import { GraphTopology } from "../../core/comm/topology/graph.ts";
import type { Topology } from "../../core/comm/topology/topology.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import {
  Create,
  CreateGroup,
  CreateInter,
  Duplicate,
  Merge,
  Shrink,
  Split,
  SplitInter,
} from "../../core/process/new-communicators.ts";
import type { Task } from "../../core/process/task.ts";
import { membersOf } from "../script/communicator-plan.ts";
import type { Making } from "../script/script.ts";
import type { TopologyPlan } from "../script/topology-plan.ts";
import type { Steps } from "../sim-process.ts";
import type { Doing, ScriptState } from "./script-state.ts";

type Maker = Task & { readonly result: Communicator | null };

export class Make implements Doing {
  private readonly communicator: number;
  private readonly how: Making;
  private task: Maker | null = null;

  constructor(communicator: number, how: Making) {
    this.communicator = communicator;
    this.how = how;
  }

  *run(state: ScriptState): Steps {
    const { core, rank, observation } = state;
    if (this.task === null) {
      this.task = taskFor(state, this.how);
      core.start(this.task);
    }
    const { task, communicator: number } = this;
    yield task.request;
    core.engine.giveBack(task.request);
    const comm = task.result;
    if (task.error !== 0) {
      observation.ended.push({
        rank,
        what: `making of communicator ${number}`,
        communicators: parentsOf(this.how),
        peers: makersOf(state, number, this.how),
        error: task.error,
        cancelled: false,
        wantedCancelled: false,
      });
      state.giveUp();
    }
    if (comm === null) return;
    const groups = [comm.group, ...(comm.remote === null ? [] : [comm.remote])].map((group) => group.worldRanks());
    const { context } = comm;
    observation.communicators.push({ communicator: number, member: rank, rank: comm.rank, groups, context });
    if (number < 0) return;
    const { topology } = state.plan(number);
    comm.topology = topology === null ? null : topologyFor(topology, comm);
    state.addCommunicator(number, comm);
  }
}

/** Communicators over which the makers of another one communicate. */
function parentsOf(how: Making): number[] {
  return how.by === "create-inter" ? [how.local, how.bridge] : [how.parent];
}

/** The ones among them that a rank must have. Only the leader needs the bridge; other ranks may not even be in it. */
export function neededFor(how: Making, rank: number): number[] {
  return how.by === "create-inter" && rank !== how.leader ? [how.local] : parentsOf(how);
}

/** World ranks of all that take part in making a communicator. */
function makersOf(state: ScriptState, number: number, how: Making): readonly number[] {
  if (how.by === "create-group") return how.members;
  return membersOf(state.plan(how.by === "create-inter" ? number : how.parent));
}

function taskFor(state: ScriptState, how: Making): Maker {
  const { core } = state;
  switch (how.by) {
    case "duplicate":
      return new Duplicate(state.communicator(how.parent));
    case "shrink":
      return new Shrink(state.communicator(how.parent));
    case "split": {
      const parent = state.communicator(how.parent);
      const color = how.color ?? UNDEFINED;
      return parent.isInter ? new SplitInter(parent, color, how.key, core) : new Split(parent, color, how.key);
    }
    case "create":
      return new Create(state.communicator(how.parent), Group.of(how.members));
    case "create-group":
      return new CreateGroup(state.communicator(how.parent), Group.of(how.members), how.tag, core);
    case "create-inter": {
      const { local, leader, bridge, remoteLeader, tag } = how;
      const inside = state.communicator(local);
      const place = state.rankIn(local, leader);
      // Whose memory is wrong may lead where it should not, without a bridge: it talks to anybody until it is found out.
      const talksOver = state.hasCommunicator(bridge) ? state.communicator(bridge) : core.everybody;
      const remotePlace = state.rankIn(bridge, remoteLeader);
      return new CreateInter(inside, place, inside.rank === place ? talksOver : null, remotePlace, tag);
    }
    case "merge":
      return new Merge(state.communicator(how.parent), how.high, core);
  }
}

function topologyFor(plan: TopologyPlan, { size, rank }: Communicator): Topology {
  switch (plan.kind) {
    case "grid":
      return new CartesianTopology(plan.dims, plan.periods, size);
    case "graph": {
      let edges = 0;
      const index = plan.neighbours.map((list) => {
        edges += list.length;
        return edges;
      });
      return new GraphTopology(index, plan.neighbours.flat(), size);
    }
    case "edges":
      return new DistGraphTopology({ sources: plan.sources[rank]!, destinations: plan.destinations[rank]! }, size);
  }
}

saves({ Make });
