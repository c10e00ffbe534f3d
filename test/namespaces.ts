/**
 * For tests with nodes that share neither files nor network interfaces with their dispatcher, as on other machines: everything happens
 * inside namespaces of Linux (users, processes, mounts, network), which any user may make where the system allows it. A test runs its own
 * file again in there; nodes get a mount and a network namespace each, joined by virtual cables to a bridge that the dispatcher listens on.
 *
 * Nothing is left whatever happens: the file that runs inside is the first process of its process namespace, and ends with the test's
 * end of its standard input; the kernel kills all others with it, and removes mounts, cables and namespaces that nobody uses.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../src/cc/cache.ts";
import { newFolder } from "./harness.ts";
import { afterQuiet } from "./patience.ts";

const unshare = [
  "unshare",
  "--user",
  "--map-root-user",
  "--net",
  "--mount",
  "--pid",
  "--fork",
  "--kill-child",
  "--mount-proc",
];
const networkOf = "10.77";
const insideVariable = "BANYAN_TEST_INSIDE";

/** Drops whatever would open a connection (a SYN without an ACK) on its way out of that device. */
const closed = (device: string): string =>
  [
    `tc qdisc add dev ${device} root handle 1: htb default 1`,
    `tc class add dev ${device} parent 1: classid 1:1 htb rate 40gbit quantum 60000`,
    `tc class add dev ${device} parent 1: classid 1:2 htb rate 1kbit quantum 1500`,
    `tc qdisc add dev ${device} parent 1:2 handle 20: pfifo limit 0`,
    `tc filter add dev ${device} parent 1: protocol ip u32 match ip protocol 6 0xff match u8 0x02 0x12 at 33 flowid 1:2`,
  ].join(" && ");

/** Why there can be no namespaces here, or none that are closed; null: there can be. */
export function namespacesRefusal({ areClosed = false } = {}): string | null {
  const attempt = [
    "ip link add cable-a type veth peer name cable-b",
    "ip link add bridge-a type bridge",
    "mount -t tmpfs none /mnt",
    ...(areClosed ? [closed("cable-a")] : []),
  ].join(" && ");
  const { error, status, stderr } = spawnSync(unshare[0]!, [...unshare.slice(1), "sh", "-c", attempt], {
    encoding: "utf8",
  });
  if (error !== undefined) return `unshare cannot be run here: ${error.message}`;
  return status === 0 ? null : `this user may not make namespaces here: ${stderr.trim().split("\n")[0]}`;
}

/** In the file that runs inside: which of its scenarios is wanted; undefined: it is an ordinary test file. */
export const scenarioWanted = process.env[insideVariable];

/** Runs that scenario of a test file inside, and gives what it said (`tell`). */
export async function inside<T>(file: string, scenario: string, msMax: number): Promise<T> {
  const temporary = newFolder(`inside-${scenario}`);
  const [command, ...words] = [...unshare, process.execPath, "--enable-source-maps", file];
  const env = { ...process.env, [insideVariable]: scenario, TMPDIR: temporary, NODE_TEST_CONTEXT: undefined };
  const child = spawn(command!, words, { env, stdio: ["pipe", "pipe", "pipe"] });
  const tooLong = afterQuiet(msMax, () => child.stdin.end());
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  await new Promise((resolve) => child.on("close", resolve));
  tooLong();
  const said = /^told: (.*)$/m.exec(stdout)?.[1];
  if (said === undefined) throw new Error(`scenario ${scenario} ended without a word:\n${stdout}${stderr}`);
  return JSON.parse(said) as T;
}

/** The first process inside: does that and ends. */
export async function runInside(scenario: () => Promise<unknown>): Promise<void> {
  // Whoever wants to know is gone.
  process.stdin.resume().on("close", () => process.exit(1));
  const said = await scenario().catch((error: unknown) => ({ failed: String((error as Error).stack ?? error) }));
  process.stdout.write(`told: ${JSON.stringify(said)}\n`, () => process.exit(0));
}

/**
 * Options of jobs whose nodes are elsewhere. Of the folder for temporary files, where this test's programs are too, and of the cache for
 * compiled programs a node sees empty ones, in which it has the first for itself. `areClosed`: nobody can open a connection to a node, as
 * behind a firewall.
 */
export function elsewhere({ areClosed = false } = {}): {
  readonly host: string;
  readonly nodeCommand: readonly string[];
} {
  const host = `${networkOf}.0.1`;
  const commands = [
    ["link", "set", "lo", "up"],
    // An address of its own: otherwise it has that of one of its cables, another one when a node comes, and nodes send to the old one.
    ["link", "add", "bridge", "address", "02:00:00:00:00:01", "type", "bridge"],
    ["addr", "add", `${host}/16`, "dev", "bridge"],
    ["link", "set", "bridge", "up"],
  ];
  for (const words of commands) execFileSync("ip", words);
  const script = join(newFolder("node"), "start.sh");
  const hidden = [process.env["TMPDIR"]!, cacheFolder(process.env)];
  for (const folder of hidden) mkdirSync(folder, { recursive: true });
  writeFileSync(script, startScript(hidden, areClosed));
  return { host, nodeCommand: ["sh", script] };
}

/**
 * A cable from the bridge into the new network, empty folders over the hidden ones, and then the node itself. Names and addresses are
 * those of the process: the kernel removes the cable of a node that is gone when it gets round to it, and another job may start meanwhile.
 */
const startScript = (hidden: readonly string[], areClosed: boolean): string => `set -e
number=$$
ip link add "outer-$number" type veth peer name "inner-$number"
ip link set "outer-$number" master bridge up
${areClosed ? closed('"outer-$number"') : ""}
exec unshare --net --mount sh -c '
set -e
number=$1; shift
nsenter --net=/proc/1/ns/net ip link set "inner-$number" netns $$
ip link set lo up
ip addr add ${networkOf}.$((number / 250 % 250 + 1)).$((number % 250 + 1))/16 dev "inner-$number"
ip link set "inner-$number" up
${hidden.map((folder) => `mount -t tmpfs none "${folder}"`).join("\n")}
mkdir "$TMPDIR/own"
export TMPDIR="$TMPDIR/own"
cd /
exec "$@"' sh "$number" "$@"
`;
