/**
 * Variables of the environment that keep a Node process from starting soon, and that a node for C programs has no use for itself: it is started
 * without them and puts them back for its programs. Node 20 reads all certificates that NODE_EXTRA_CA_CERTS names before anything else, 70 ms
 * with the usual bundle; a C program makes no TLS connections. (A program in TypeScript may.)
 */
const lateVariables = ["NODE_EXTRA_CA_CERTS"];
const prefix = "BANYAN_LATE_";

type Variables = Readonly<Record<string, string | undefined>>;

/** For the process that is started. */
export function withLateVariables(environment: Variables): Record<string, string | undefined> {
  const late = { ...environment };
  for (const name of lateVariables) {
    if (late[name] === undefined) continue;
    late[prefix + name] = late[name];
    delete late[name];
  }
  return late;
}

/** In the process that was started: its environment is that of the process which started it. */
export function restoreLateVariables(environment: Record<string, string | undefined>): void {
  for (const name of lateVariables) {
    const value = environment[prefix + name];
    if (value === undefined) continue;
    environment[name] = value;
    delete environment[prefix + name];
  }
}
