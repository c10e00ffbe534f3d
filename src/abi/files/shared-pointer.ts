/**
 * The shared file pointer (MPI 5.0 §14.4.4), and the lock that atomic accesses take: a hidden file beside the data holds the
 * number of etypes, and a process that changes it first creates another one that must not exist, which is the lock. A message to a member
 * that keeps it would be answered when that member next calls MPI, perhaps hours later; the disk answers at once.
 *
 * The lock is held for two small file operations, never across a wait, so an image is never taken inside. Names differ from
 * run to run: what a run that was killed has left behind is never taken for ours. Images hold the value itself.
 *
 * Where lives are replayed, a member may fall between its decision to lock and the lock itself, and another member may lock meanwhile. The
 * next life must not take that lock for its own. So the lock is there a second name of a file that each member has for itself: the
 * number of the file (inode) tells whose lock it is.
 */
import type { CommRank } from "../../core/base/brand.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import type { CFile } from "./file.ts";
import type { FileUser } from "./file-user.ts";
import { diskOf, type ProgramFiles } from "./program-files.ts";

/** What is needed of a file, which need not be open yet. */
type Place = Pick<CFile, "comm" | "path" | "shared">;

/** The member that does what is done once. */
export const isFirst = ({ comm }: Pick<CFile, "comm">): boolean => comm.rank === 0;

/** The hidden file of this run: of one that was thawed the earlier run's is removed. */
function pointerPath(program: FileUser, { comm, path, shared }: Place): string {
  const disk = diskOf(program);
  const at = path.lastIndexOf("/") + 1;
  // Contexts are unique among the communicators of a process.
  const owner = `${comm.group.worldRank(0 as CommRank)}-${(comm.context >>> 0).toString(16)}`;
  const own = `${path.slice(0, at)}.${path.slice(at)}.${disk.run.slice(0, 8)}-${owner}.shared`;
  if (shared.path !== own) {
    if (shared.path !== "" && comm.rank === 0) disk.forget(shared.path);
    shared.path = own;
  }
  return own;
}

const lockOf = (pointer: string): string => `${pointer}.lock`;
/** The member's own file, see above. */
const ownOf = (pointer: string, { comm }: Pick<CFile, "comm">): string => `${pointer}.${comm.rank}`;

/** False: another member has the lock. */
function tryLock(disk: ProgramFiles, file: CFile, pointer: string): boolean {
  const lock = lockOf(pointer);
  return disk.isReplayed ? disk.linkTo(lock, ownOf(pointer, file)) : disk.create(lock);
}

/** No other member that opened the file with us is inside at the same time. */
export function locked<T>(program: FileUser, file: CFile, act: () => T): T {
  if (file.comm.size === 1) return act();
  const disk = diskOf(program);
  const pointer = pointerPath(program, file);
  while (!tryLock(disk, file, pointer)) {
    program.operations.look();
    // A member that died may have had the lock; who is no member never has.
    if (program.operations.failedOf(file.comm).size === 0) continue;
    throw new MpiError(
      ErrorClass.PROC_FAILED,
      `Cannot lock ${file.title}: a process has failed that may hold the lock`,
    );
  }
  try {
    return act();
  } finally {
    disk.forget(lockOf(pointer));
  }
}

/** In etypes. */
export function sharedPosition(program: FileUser, file: CFile): number {
  if (file.comm.size === 1) return file.shared.start;
  return diskOf(program).readNumber(pointerPath(program, file)) ?? file.shared.start;
}

/** Moves it on; answers where it was. */
export function advanceShared(program: FileUser, file: CFile, etypes: number): number {
  return locked(program, file, () => {
    const before = sharedPosition(program, file);
    if (file.comm.size === 1) file.shared.start = before + etypes;
    else if (etypes !== 0) diskOf(program).writeNumber(pointerPath(program, file), before + etypes);
    return before;
  });
}

/** All members call it, at a time when none of them uses the pointer. */
export function setShared(program: FileUser, file: CFile, etypes: number): void {
  file.shared.start = etypes;
  forgetShared(program, file);
}

/**
 * Removes the pointer from the disk, at a time when no member uses it. The first member may never have used the pointer, and others all
 * the same.
 */
export function forgetShared(program: FileUser, file: Place): void {
  if (!isFirst(file) || file.comm.size === 1) return;
  const disk = diskOf(program);
  const pointer = pointerPath(program, file);
  disk.forget(pointer);
  disk.forget(lockOf(pointer));
}

/** The member uses neither lock nor pointer any more. */
export function forgetOwn(program: FileUser, file: CFile): void {
  const disk = diskOf(program);
  if (disk.isReplayed && file.comm.size > 1) disk.forget(ownOf(pointerPath(program, file), file));
}

/** Before an image is taken: the disk of a later run does not know. A later life of this run finds it, and must not be asked twice. */
export function rememberShared(program: FileUser): void {
  if (program.disk?.isReplayed === true) return;
  for (const file of program.files.list()) file.shared.start = sharedPosition(program, file);
}
