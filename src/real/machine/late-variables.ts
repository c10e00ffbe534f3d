/**
 * Variables of the environment that keep a Node process from starting soon. Node 20 reads all certificates that NODE_EXTRA_CA_CERTS names before anything
 * else, 70 ms with the usual bundle; nothing of ours makes TLS connections, and neither do programs in C. (A program in TypeScript may.) So services are started
 * without them, and so is a node for C programs, which puts them back for its programs.
 */
const lateVariables = ["NODE_EXTRA_CA_CERTS"];
const prefix = "BANYAN_LATE_";

type Variables = Readonly<Record<string, string | undefined>>;

/** For a process that runs nobody's programs. */
export function withoutLateVariables(environment: Variables): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !lateVariables.includes(name)));
}

/** For a process that restores them. */
export function withLateVariables(environment: Variables): Record<string, string | undefined> {
  const late = lateVariables.filter((name) => environment[name] !== undefined);
  return {
    ...withoutLateVariables(environment),
    ...Object.fromEntries(late.map((name) => [prefix + name, environment[name]])),
  };
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
