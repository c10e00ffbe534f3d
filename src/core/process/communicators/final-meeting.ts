/**
 * The end of a process that a spawn has connected to others: it waits for its world, and for all of those (MPI 5.0 §11.2.2).
 * Each process says farewell once to each one of the other side, when it disconnects or at the very end, and waits for theirs
 * at the end only. So no process waits for ever for a side that has disconnected alone, as it should not.
 */
import type { Pointer, RecordId, WorldRank } from "../../base/brand.ts";
import { saves } from "../../base/saved-classes.ts";
import type { Group } from "../../comm/group.ts";
import type { Engine } from "../../p2p/engine.ts";
import { SendMode } from "../../request/records.ts";
import { collectiveContext } from "../context.ts";
import { Task, type TaskHost } from "../task.ts";
import { finalTag } from "./task-tags.ts";

const nothing = 0 as Pointer;

export function sayFarewell(engine: Engine, context: number, others: Group): void {
  const at = collectiveContext(context);
  for (const other of others.worldRanks()) {
    engine.abandon(engine.startSend(nothing, 0, other, finalTag, at, SendMode.STANDARD));
  }
}

export class FinalMeeting extends Task {
  /** The barrier of the world, and the farewells of the others. */
  private readonly requests: RecordId[];

  /** `connections`: the other sides by their contexts. */
  constructor(barrier: RecordId, connections: ReadonlyMap<number, Group>, engine: Engine) {
    super();
    this.requests = [barrier];
    for (const [context, others] of connections) {
      sayFarewell(engine, context, others);
      for (const other of others.worldRanks()) this.requests.push(farewellOf(engine, context, other));
    }
  }

  /** Farewells of the dead end with an error, which is ignored: there is no program left to hear of it. */
  override advance({ engine }: TaskHost): boolean {
    if (!this.requests.every((request) => engine.isComplete(request))) return false;
    for (const request of this.requests) engine.giveBack(request);
    return true;
  }
}

function farewellOf(engine: Engine, context: number, other: WorldRank): RecordId {
  return engine.startReceive(nothing, 0, other, finalTag, collectiveContext(context));
}

saves({ FinalMeeting });
