/**
 * File systems of the kernel, which are no disks: `/proc/self/mem` is the memory of the node, `/proc/self/environ` the user's
 * environment, and writing to others changes the machine. No program in C opens or lists anything there, whatever folder it is
 * given.
 */
import { statfsSync } from "node:fs";

/** Types in statfs(2): linux/magic.h. */
const types: ReadonlySet<number> = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0xf97cff8c, // selinux
  0x43415d53, // smack
  0x5a3c69f0, // apparmor
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0xcafe4a11, // bpf
  0x62656570, // configfs
  0xde5e81e4, // efivars
  0x6165676c, // pstore
  0x6e736673, // namespaces
  0x65735543, // fusectl
  0x42494e4d, // binfmt_misc
  0x6e667364, // nfsd
  0x67596969, // rpc_pipefs
  0x09041934, // anonymous inodes
]);

export const isKernelsFolder = (path: string): boolean => types.has(statfsSync(path).type >>> 0);

/** The same question for an open file. */
export const isKernels = (descriptor: number): boolean => isKernelsFolder(`/proc/self/fd/${descriptor}`);
