/** Files that the members of a communicator have open together, also while they do something else. */
import { type CommunicatorPlan, isInter, membersOf } from "../script/communicator-plan.ts";
import { endOfPhase, recordBytes, type SharedFileAction, type SharedFilePhase } from "../script/shared-file-plan.ts";
import type { Draft, SharedFileDraft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";

const ways = ["offset", "pointer", "shared", "shared", "ordered"] as const;

export const sharedFiles: MakeFamily = (draft) => {
  /** By communicator. */
  const open = new Map<CommunicatorPlan, SharedFileDraft>();
  return {
    name: "shared files",
    weight: 4,
    bearsDeaths: false,
    bearsRevocation: false,
    deal(comm) {
      if (isInter(comm)) return;
      const { random } = draft;
      const file = open.get(comm) ?? openFile(draft, comm);
      open.set(comm, file);
      for (let left = random.between(1, 2); left > 0; left--) dealPhase(draft, comm, file);
      if (random.chance(0.2)) dealSize(draft, comm, file);
      if (random.chance(0.4)) dealReads(draft, comm, file);
      if (random.chance(0.3)) {
        all(draft, comm, { kind: "file-close", file: file.number });
        open.delete(comm);
      }
    },
    end() {
      for (const [comm, { number }] of open) all(draft, comm, { kind: "file-close", file: number });
    },
  };
};

function all(draft: Draft, comm: CommunicatorPlan, action: SharedFileAction): void {
  for (const rank of membersOf(comm)) draft.act(rank, action);
}

function openFile(draft: Draft, comm: CommunicatorPlan): SharedFileDraft {
  const file = draft.sharedFile(comm.number);
  all(draft, comm, { kind: "file-open", file: file.number });
  if (draft.random.chance(0.3)) all(draft, comm, { kind: "file-atomic", file: file.number });
  return file;
}

function dealPhase(draft: Draft, comm: CommunicatorPlan, file: SharedFileDraft): void {
  const { random } = draft;
  const by = random.pick(ways);
  const phase: SharedFilePhase = { by, start: file.size, counts: membersOf(comm).map(() => random.below(3)) };
  const place = { file: file.number, phase: file.phases.length };
  file.phases.push(phase);
  file.size = endOfPhase(phase);
  if (by === "shared" || by === "ordered") all(draft, comm, { kind: "file-seek", ...place });
  if (by === "ordered") {
    all(draft, comm, { kind: "file-ordered", ...place });
    return;
  }
  for (const [member, rank] of membersOf(comm).entries()) {
    for (let index = 0; index < phase.counts[member]!; index++)
      draft.act(rank, { kind: "file-write", ...place, index });
  }
}

function dealSize(draft: Draft, comm: CommunicatorPlan, file: SharedFileDraft): void {
  file.size += draft.random.below(3) * recordBytes;
  all(draft, comm, { kind: "file-size", file: file.number, bytes: file.size });
}

/** Everything that was written before is seen behind MPI_File_sync. */
function dealReads(draft: Draft, comm: CommunicatorPlan, { number: file, size: bytes }: SharedFileDraft): void {
  all(draft, comm, { kind: "file-sync", file });
  for (const rank of membersOf(comm)) if (draft.random.chance(0.7)) draft.act(rank, { kind: "file-read", file, bytes });
}
