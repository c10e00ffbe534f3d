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
  const names = new Map(namesOfConstants());
  for (const [name, object] of foundBy(program, theirs)) if (object !== null) names.set(object, name);
  return saveState({ program, companions }, names);
}

/** `program` and its companions are new ones, of the same rank of a job of the same size. Its life begins afterwards (`Process.beginLife`). */
export function restoreProcess(
  program: Program,
  state: Uint8Array,
  companions: Companions = {},
  theirs: CompanionsWorld = {},
): void {
  restoreState(state, { program, companions }, worldOf(program, theirs));
  program.process.reopenBoards();
}

/** What a process finds rather than has: by name. */
const worldOf = (program: Program, theirs: CompanionsWorld): Map<string, object | null> =>
  new Map([...constants(), ...foundBy(program, theirs)]);

function* foundBy({ host, process }: Program, theirs: CompanionsWorld): Generator<[string, object | null], void, void> {
  const { boards, nodeMap } = process;
  yield ["host", host];
  yield ["transport", process.engine.transport];
  yield ["boards", boards];
  yield ["nodes", nodeMap];
  yield* Object.entries(theirs);
}

/** Constants of our own, which are compared by who they are. */
function* constants(): Generator<[string, object], void, void> {
  yield ["called by the program", calledByTheProgram];
  yield ["errors are fatal", errorsAreFatal];
  yield ["errors abort", errorsAbort];
  yield ["errors return", errorsReturn];
  for (const type of [...Object.values(predefinedTypes), LB, UB]) {
    yield [`type ${type.name}`, type];
    for (const [i, element] of type.elements.entries()) yield [`element ${i} of ${type.name}`, element];
  }
  for (const op of Object.values(predefinedOps)) yield [`operation ${op.name}`, op];
}

let constantNames: ReadonlyMap<object, string> | undefined;

/** There are hundreds, and every image needs them. */
function namesOfConstants(): ReadonlyMap<object, string> {
  constantNames ??= new Map(Array.from(constants(), ([name, object]) => [object, name]));
  return constantNames;
}
