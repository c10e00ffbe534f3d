/**
 * The state of a C process beside its memory, as bytes: engine, communicators, requests, handles, what its imports were
 * doing. Everything reachable from `Program` is saved (core/base/saved-classes.ts); this file says what is not the process's
 * own.
 */

import { LB, predefinedTypes, UB } from "../core/comm/datatype/datatype-predefined.ts";
import { errorsAbort, errorsAreFatal, errorsReturn } from "../core/comm/error-handler.ts";
import { predefinedOps } from "../core/comm/op/op-predefined.ts";
import { restoreState } from "../image/state/restore-state.ts";
import { saveState } from "../image/state/save-state.ts";
import { calledByTheProgram } from "./calls/operations.ts";
import { rememberShared } from "./files/shared-pointer.ts";
import type { Program } from "./program.ts";

/** Version of what is written here. */
export const stateLayout = 14;

/** What else the world that runs a program keeps of it: living objects by name. */
export type Companions = Readonly<Record<string, object>>;
/** What those find rather than have. */
type CompanionsWorld = Readonly<Record<string, object>>;

/** The process stands still, and nothing is under way between it and others (core/process/settling.ts). */
export function saveProcess(program: Program, companions: Companions = {}, theirs: CompanionsWorld = {}): Uint8Array {
  rememberShared(program);
  program.process.rememberNumbers();
  const names = new Map<object, string>();
  for (const [name, object] of worldOf(program, theirs)) if (object !== null) names.set(object, name);
  return saveState({ program, companions }, names);
}

/** `program` and its companions are new ones, of the same rank of a job of the same size. */
export function restoreProcess(
  program: Program,
  state: Uint8Array,
  companions: Companions = {},
  theirs: CompanionsWorld = {},
): void {
  restoreState(state, { program, companions }, worldOf(program, theirs));
  program.process.reopenBoards();
  program.process.collectives.arriveAgain();
}

/** What a process finds rather than has: by name. */
function worldOf({ host, process }: Program, theirs: CompanionsWorld): Map<string, object | null> {
  const { boards, nodeMap } = process;
  const world = new Map<string, object | null>([
    ["host", host],
    ["transport", process.engine.transport],
    ["boards", boards],
    ["nodes", nodeMap],
    ["called by the program", calledByTheProgram],
    ["errors are fatal", errorsAreFatal],
    ["errors abort", errorsAbort],
    ["errors return", errorsReturn],
  ]);
  // Constants of our own, which are compared by who they are.
  for (const type of [...Object.values(predefinedTypes), LB, UB]) {
    world.set(`type ${type.name}`, type);
    for (const [i, element] of type.elements.entries()) world.set(`element ${i} of ${type.name}`, element);
  }
  for (const op of Object.values(predefinedOps)) world.set(`operation ${op.name}`, op);
  for (const [name, object] of Object.entries(theirs)) world.set(name, object);
  return world;
}
