/**
 * The words of other MPIs' `mpirun` and `mpiexec`, as words of `banyan run`. Open MPI and MPICH write long options with one dash or two;
 * what has no meaning here is accepted with a line that says so, or without one where nobody would miss it.
 */
import { protocols } from "../core/ft/registry.ts";
import { UsageError } from "./complain.ts";

interface Habit {
  /** How many words follow it. */
  readonly values: 0 | 1 | 2;
  /** The words of `banyan run`. */
  words(...values: string[]): string[];
  /** Said to the user. */
  note?(...values: string[]): string | undefined;
}

const nothing = (): string[] => [];
const ignored: Habit = { values: 0, words: nothing };
const as = (option: string): Habit => ({ values: 1, words: (value) => [option, value] });

function bindTo(what: string): string | undefined {
  if (what === "none") return undefined;
  return `--bind-to ${what} has no effect: ranks are threads, and the system chooses their cores`;
}

function mapBy(how: string): string | undefined {
  if (/^(slot|core|hwthread)\b/.test(how) || /^ppr:\d+:node/.test(how)) return undefined;
  return `--map-by ${how} has no effect: ranks are put on nodes in blocks; --nodes says how many nodes`;
}

function perNode(how: string): string[] {
  const [, ranks] = /^ppr:(\d+):node/.exec(how) ?? [];
  return ranks === undefined ? [] : ["--ranks-per-node", ranks];
}

/** Open MPI's `--with-ft` and MPICH's `-disable-auto-cleanup` want that the death of a rank is an error of the others' calls. */
function survivesDeaths(): string[] {
  const survivor = protocols.find(({ deaths }) => deaths === "survived");
  return survivor === undefined ? [] : ["--protocol", survivor.name];
}

const initialHandlers = ["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"];

function initialHandler(name: string): string[] {
  if (initialHandlers.includes(name)) return ["--env", `BANYAN_INITIAL_ERRHANDLER=${name}`];
  throw new UsageError(`Cannot begin with error handler "${name}": there are ${initialHandlers.join(", ")}`);
}

/** By name, without dashes. */
const habits: Readonly<Record<string, Habit>> = {
  np: as("--ranks"),
  host: as("--hosts"),
  hostfile: as("--hostfile"),
  machinefile: as("--hostfile"),
  wdir: as("--wdir"),
  wd: as("--wdir"),
  "tag-output": { values: 0, words: () => ["--label"] },
  "prepend-rank": { values: 0, words: () => ["--label"] },
  "output-filename": as("--output-filename"),
  npernode: as("--ranks-per-node"),
  ppn: as("--ranks-per-node"),
  genv: { values: 2, words: (name, value) => ["--env", `${name}=${value}`] },
  oversubscribe: ignored,
  "allow-run-as-root": ignored,
  "use-hwthread-cpus": ignored,
  "bind-to": { values: 1, words: nothing, note: bindTo },
  "map-by": { values: 1, words: perNode, note: mapBy },
  "with-ft": { values: 1, words: (what) => (/^(no|none|false|0)$/i.test(what) ? [] : survivesDeaths()) },
  "enable-recovery": { values: 0, words: survivesDeaths },
  "disable-auto-cleanup": { values: 0, words: survivesDeaths },
  "initial-errhandler": { values: 1, words: initialHandler },
  mca: { values: 2, words: nothing, note: (name) => `--mca ${name} has no effect: that is a setting of Open MPI` },
};

/** Words that stand for themselves, with one dash. */
const shortHabits: Readonly<Record<string, Habit>> = {
  "-H": as("--hosts"),
  "-N": as("--ranks-per-node"),
  "-x": as("--env"),
  "-f": as("--hostfile"),
};

function habitOf(word: string): Habit | undefined {
  const short = shortHabits[word];
  if (short !== undefined) return short;
  const name = /^--?([a-z][a-z-]+)$/.exec(word)?.[1];
  return name === undefined || !Object.hasOwn(habits, name) ? undefined : habits[name];
}

interface Translated {
  readonly words: string[];
  readonly notes: string[];
}

/** What may stand behind an option of `banyan run`, or behind a word that is none. */
export type Following = "a value" | "perhaps a number" | "nothing";

/** Ends at the program. */
export function translateHabits(given: readonly string[], followingOf: (word: string) => Following): Translated {
  const words: string[] = [];
  const notes: string[] = [];
  let at = 0;
  while (at < given.length) {
    const word = given[at]!;
    const [name = "", inline] = word.startsWith("--") ? splitAtEquals(word) : [word];
    const habit = habitOf(name);
    if (habit !== undefined) {
      const following = given.slice(at + 1, at + 1 + habit.values);
      const values = inline === undefined ? following : [inline];
      if (values.length < habit.values) throw new UsageError(`Cannot understand ${word}: a value must follow it`);
      words.push(...habit.words(...values));
      const note = habit.note?.(...values);
      if (note !== undefined) notes.push(note);
      at += inline === undefined ? 1 + habit.values : 1;
    } else if (word.startsWith("-") && word !== "-" && word !== "--") {
      const following = followingOf(word);
      const count = following === "a value" ? 2 : 1;
      words.push(...given.slice(at, at + count));
      at += count;
      const next = given[at] ?? "-";
      // A program would be taken for the number.
      if (following === "perhaps a number" && !/^[-\d]/.test(next)) words.push("--");
    } else break;
  }
  return { words: [...words, ...given.slice(at)], notes };
}

function splitAtEquals(word: string): [name: string, value?: string] {
  const at = word.indexOf("=");
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}
