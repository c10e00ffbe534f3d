/**
 * The tasks that make communicators (MPI 5.0 §7.4, §7.6), for the layers above. Each first learns the members, then
 * agrees with them on a context; the result is null for processes that are no members.
 */
export { Create } from "./communicators/create.ts";
export { CreateGroup } from "./communicators/create-group.ts";
export { CreateInter } from "./communicators/create-inter.ts";
export { Duplicate } from "./communicators/duplicate.ts";
export { MeetParents } from "./communicators/meet-parents.ts";
export { Merge } from "./communicators/merge.ts";
export { Shrink } from "./communicators/shrink.ts";
export { Spawn, type SpawnOutcome } from "./communicators/spawn.ts";
export { Split } from "./communicators/split.ts";
export { SplitInter } from "./communicators/split-inter.ts";
