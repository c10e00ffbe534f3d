/** The actions of ranks on files that several of them have open together: MPI's files. */
import { type Access, moveAtPointer, moveData } from "../../abi/files/access.ts";
import { CloseFile, release } from "../../abi/files/close-file.ts";
import { SeekShared, SetAtomicity, SetSize, SyncFile, TakeTurns } from "../../abi/files/file-tasks.ts";
import { Mode } from "../../abi/files/mode.ts";
import { OpenFile } from "../../abi/files/open-file.ts";
import { Whence } from "../../abi/files/seek.ts";
import { advanceShared } from "../../abi/files/shared-pointer.ts";
import type { Together } from "../../abi/files/together.ts";
import { assert } from "../../core/base/assert.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { Info } from "../../core/comm/info.ts";
import { sharedName } from "../outside/shared-files.ts";
import { rankOf } from "../script/communicator-plan.ts";
import {
  contentsHash,
  placeIn,
  recordBytes,
  recordText,
  type SharedFileAction,
  type SharedFilePhase,
  type TogetherAction,
} from "../script/shared-file-plan.ts";
import type { Steps } from "../sim-process.ts";
import { PatientTask } from "./script-files.ts";
import type { Doing, ScriptState } from "./script-state.ts";

type ActionOf<K extends SharedFileAction["kind"]> = Extract<SharedFileAction, { readonly kind: K }>;

/** The rank's number among the members of a file. */
function memberOf({ script, rank }: ScriptState, file: number): number {
  const { communicator } = script.sharedFiles[file]!;
  return rankOf(script.communicators[communicator]!, rank);
}

const phaseOf = ({ script }: ScriptState, { file, phase }: { file: number; phase: number }): SharedFilePhase =>
  script.sharedFiles[file]!.phases[phase]!;

/** Records of a member in one phase, from that one on, which it writes in one access. Plain data. */
class MemberRecords {
  readonly bytes: number;
  private readonly place: { readonly file: number; readonly phase: number; readonly member: number };
  private readonly first: number;
  private readonly texts: readonly string[];

  constructor(state: ScriptState, where: { file: number; phase: number }, first: number, count: number) {
    const { file, phase } = where;
    this.place = { file, phase, member: memberOf(state, file) };
    this.first = first;
    this.texts = Array.from({ length: count }, (_, i) =>
      recordText({ ...this.place, index: first + i }, state.history),
    );
    this.bytes = count * recordBytes;
  }

  *write({ files, process, outside }: ScriptState, move: (access: Access) => number): Steps {
    const access = files.access("write", this.bytes);
    const moved = yield* files.calls.run(process, () => {
      files.data(this.bytes).set(new TextEncoder().encode(this.texts.join("")));
      return move(access);
    });
    assert(moved === this.bytes, "records are written whole");
    for (const [i, text] of this.texts.entries()) {
      outside.sharedFiles.wrote({ ...this.place, index: this.first + i }, text);
    }
  }
}

export function* writeRecord(state: ScriptState, action: ActionOf<"file-write">): Steps {
  const { files } = state;
  const file = files.file(action.file);
  const phase = phaseOf(state, action);
  const place = placeIn(phase, memberOf(state, action.file));
  if (phase.by === "pointer" && action.index === 0) file.position = place;
  yield* new MemberRecords(state, action, action.index, 1).write(state, (access) => {
    if (phase.by === "pointer") return moveAtPointer(files, file, access);
    if (phase.by === "offset") return moveData(files, file, access, place + action.index * recordBytes);
    // As `moveAtShared`; the pointer of a file with one member is no question to the disk, and moves once all the same.
    const start = files.calls.once(() => advanceShared(files, file, recordBytes));
    return moveData(files, file, access, start);
  });
}

export function* readPrefix(state: ScriptState, { file: number, bytes }: ActionOf<"file-read">): Steps {
  const { files, process, rank, outside } = state;
  const file = files.file(number);
  const access = files.access("read", bytes);
  const got = yield* files.calls.run(process, () => moveData(files, file, access, 0));
  const hash = contentsHash(files.data(got));
  state.observe(got, hash);
  outside.sharedFiles.read(rank, state.next, { file: number, bytes, hash });
}

/** Something that all members of a file do together. */
export class FileTogether implements Doing {
  private readonly action: TogetherAction;
  private task: PatientTask | null = null;
  private records: MemberRecords | null = null;

  constructor(action: TogetherAction) {
    this.action = action;
  }

  *run(state: ScriptState): Steps {
    const { core, process, files } = state;
    const { engine } = core;
    if (this.task === null) {
      this.task = new PatientTask(files, this.begin(state));
      core.start(this.task);
    }
    const { task } = this;
    while (!engine.isComplete(task.request)) {
      yield process.until(`${this.action.kind} of file ${this.action.file}`, () => {
        return files.calls.mustWait || engine.isComplete(task.request);
      });
      if (files.calls.mustWait) yield files.calls.wait(process);
    }
    engine.giveBack(task.request);
    assert(task.error === 0, `${this.action.kind} of file ${this.action.file} has failed: ${task.inner.why}`);
    yield* this.end(state, task.inner);
  }

  private begin(state: ScriptState): Together {
    const { action } = this;
    const { files } = state;
    if (action.kind === "file-open") {
      const { communicator } = state.script.sharedFiles[action.file]!;
      const options = { name: sharedName(action.file), mode: Mode.CREATE | Mode.RDWR, info: new Info() };
      return new OpenFile(files, state.communicator(communicator), options);
    }
    const file = files.file(action.file);
    switch (action.kind) {
      case "file-atomic":
        return new SetAtomicity(files, file, true);
      case "file-seek":
        return new SeekShared(files, file, phaseOf(state, action).start, Whence.SET);
      case "file-ordered": {
        const count = phaseOf(state, action).counts[memberOf(state, action.file)]!;
        this.records = new MemberRecords(state, action, 0, count);
        return new TakeTurns(files, file, files.access("write", this.records.bytes));
      }
      case "file-sync":
        return new SyncFile(files, file);
      case "file-size":
        return new SetSize(files, file, action.bytes, true);
      case "file-close":
        return new CloseFile(files, file);
    }
  }

  private *end(state: ScriptState, task: Together): Steps {
    const { action, records } = this;
    const { files } = state;
    if (task instanceof OpenFile) files.open(action.file, task.file());
    if (task instanceof TakeTurns && records !== null) {
      const file = files.file(action.file);
      yield* records.write(state, (access) => moveData(files, file, access, task.start));
    }
    if (task instanceof CloseFile) {
      release(files, files.file(action.file));
      files.close(action.file);
    }
  }
}

saves({ FileTogether, MemberRecords });
