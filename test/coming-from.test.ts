/**
 * The page for those who come from other MPIs, followed line by line in a folder where the package is installed: each habit of its tables is
 * typed into a shell as it stands there. A habit of the page without a check fails, and a check whose habit is gone. Row M7.
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { before, test } from "node:test";
import { newFolder, program, Run, sorted, until } from "./harness.ts";
import { long } from "./long.ts";

const timeoutMs = 240_000;
const folder = newFolder("habits");

const inC = (body: string): string => `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ${body}
  MPI_Finalize();
  return 0;
}
`;
const sources: Record<string, string> = {
  "solver.c": inC(`printf("%d of %d\\n", rank, size);`),
  "a.c": inC(`printf("a %d of %d\\n", rank, size);`),
  "b.c": inC(`printf("b %d of %d\\n", rank, size);`),
  "solver.cpp": `#include <iostream>\n${inC('std::cout << rank << " of " << size << std::endl;')}`,
  "word.c": inC(`printf("%s\\n", getenv("WORD"));`),
  "where.c": inC(`FILE *file = fopen("made", "w"); fprintf(file, "%d\\n", rank); fclose(file);`),
  "nodes.c": inC(`MPI_Comm node; int mates;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &mates); printf("%d has %d\\n", rank, mates);`),
  "names.c": inC(`printf("%s %s %s %s %s %s\\n", getenv("OMPI_COMM_WORLD_RANK"), getenv("OMPI_COMM_WORLD_SIZE"),
    getenv("OMPI_COMM_WORLD_LOCAL_RANK"), getenv("PMI_RANK"), getenv("PMI_SIZE"), getenv("MPI_LOCALRANKID"));`),
  "stuck.c":
    inC(`if (rank == 0) { puts("here"); fflush(stdout); MPI_Recv(&size, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
  else for (;;) MPI_Iprobe(0, 6, MPI_COMM_WORLD, &size, MPI_STATUS_IGNORE);`),
  "bad.c": inC('printf("%d\\n", MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS);'),
  "divide.c": inC('volatile int zero = 0; printf("%d\\n", rank / zero);'),
  "survive.c": inC(`MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 1) raise(SIGKILL);
  printf("%d\\n", MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS);`).replace(
    "#include <mpi.h>",
    "#include <mpi.h>\n#include <signal.h>",
  ),
  "solver.ts": `import { mpi } from "banyan";
  console.log(mpi.world.rank, "of", mpi.world.size);`,
  "lines.ts": `import { mpi } from "banyan";
  const { world } = mpi;
  if (world.rank === 0) {
    const object = { word: "object" };
    await world.send(object, { dest: 1, tag: 7 });
    await world.send(new Float64Array([1, 2]), { dest: 1 });
    await world.send(new Float64Array([3, 4]), { dest: 1 });
    await world.send(new Float64Array([5, 6]), { dest: 1 });
  } else {
    const object = await world.recv({ source: 0 });
    const array = new Float64Array(2);
    await world.recv(array, { source: 0 });
    const sums = [array[0]! + array[1]!];
    const request = world.irecv(array, { source: 0 });
    await request.wait();
    sums.push(array[0]! + array[1]!);
    await world.irecv(array, { source: 0 });
    sums.push(array[0]! + array[1]!);
    console.log(JSON.stringify(object), sums.join());
  }`,
};

before(() => {
  for (const [name, text] of Object.entries(sources)) program(`habits/${name}`, text);
  program("habits/hosts", "localhost slots=4\n");
  program("habits/Makefile", "solver.wasm: solver.c\n\t$(CC) -O2 $< -o $@\n");
  const commands = join(folder, "node_modules/.bin");
  mkdirSync(commands, { recursive: true });
  symlinkSync(process.cwd(), join(folder, "node_modules/banyan"));
  const { bin } = JSON.parse(readFileSync("package.json", "utf8"));
  for (const [name, path] of Object.entries<string>(bin)) symlinkSync(join(process.cwd(), path), join(commands, name));
});

/** `banyan` and `node` are those under test, as in a shell of somebody who installed them. */
const environment = (): Record<string, string> => ({
  PATH: [join(folder, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter),
  npm_config_offline: "true",
});

const typed = (line: string, terminal = ""): Run =>
  new Run([`cd '${folder}' && ${line}`], {
    stdin: terminal,
    command: ["bash", "-c"],
    env: environment(),
    timeoutMs,
  });

interface Expected {
  readonly code?: number;
  /** Lines of standard output, sorted. */
  readonly out?: readonly string[] | RegExp;
  readonly err?: RegExp;
}

async function types(line: string, { code = 0, out, err }: Expected): Promise<void> {
  const ended = await typed(line).ended;
  assert.equal(ended.code, code, `${line}\n${ended.stderr}`);
  if (out instanceof RegExp) assert.match(ended.stdout, out, line);
  else if (out !== undefined) assert.deepEqual(sorted(ended.stdout), out, line);
  if (err !== undefined) assert.match(ended.stderr, err, line);
}

const worldOf = (ranks: number): string[] => Array.from({ length: ranks }, (_, rank) => `${rank} of ${ranks}`);

/** A rank waits for another one, and for ever. */
async function standing(): Promise<Run> {
  const run = typed("exec banyan run -n 2 --ranks-per-thread 1 stuck.c");
  await run.printed("here");
  return run;
}

const tables = ({ stderr }: Run): number => stderr.split("where the ranks are").length - 1;

/** What stands in the first column of the page, and what is typed for it. */
const habits: Record<string, () => Promise<void>> = {
  "`mpicc -O2 solver.c -o solver`": async () => {
    await types("banyan cc -O2 solver.c -o solver.wasm && banyan run solver.wasm", { out: ["0 of 1"] });
    await types("npx -p banyan mpicc -O2 solver.c -o other.wasm && banyan run other.wasm", { out: ["0 of 1"] });
    await types("banyan run solver.c", { out: ["0 of 1"] });
  },
  "`mpicxx`, `make CC=mpicc`": async () => {
    await types("banyan c++ solver.cpp -o cpp.wasm && banyan run -n 2 cpp.wasm", { out: worldOf(2) });
    await types('rm -f solver.wasm && make CC="banyan cc" && banyan run -n 2 solver.wasm', { out: /0 of 2/ });
  },
  "`mpirun -np 4 ./solver`": async () => {
    await types("banyan run -n 4 solver.c", { out: worldOf(4) });
    await types("banyan run -np 4 solver.c", { out: worldOf(4) });
    await types("npx -p banyan mpirun -np 4 solver.c", { out: worldOf(4) });
  },
  "`mpirun -np 1 ./a : -np 3 ./b`": () =>
    types("banyan run -n 1 a.c : -n 3 b.c", { out: ["a 0 of 4", "b 1 of 4", "b 2 of 4", "b 3 of 4"] }),
  "`-x NAME`, `-x NAME=value`": async () => {
    await types("banyan run -x WORD=value word.c", { out: ["value"] });
    await types("WORD=mine banyan run -x WORD word.c", { out: ["mine"] });
    await types("banyan run --env WORD=long word.c", { out: ["long"] });
  },
  "`-H host`, `--hostfile f`": async () => {
    await types("banyan run -n 2 -H localhost solver.c", { out: worldOf(2) });
    await types("banyan run -n 2 --hostfile hosts solver.c", { out: worldOf(2) });
    await types("banyan run -n 2 -H elsewhere solver.c", { code: 2, err: /^banyan: .*elsewhere.*\n$/ });
  },
  "`-npernode 2`, `-ppn 2`, `--map-by ppr:2:node`": async () => {
    for (const words of ["-npernode 2", "-ppn 2", "--map-by ppr:2:node", "--ranks-per-node 2", "--nodes 2"]) {
      await types(`banyan run -n 4 ${words} nodes.c`, { out: [0, 1, 2, 3].map((rank) => `${rank} has 2`) });
    }
  },
  "`-wdir folder`": () =>
    types("mkdir -p folder && banyan run -wdir folder where.c && cat folder/made", { out: ["0"] }),
  "`--tag-output`, `-prepend-rank`": async () => {
    for (const words of ["--tag-output", "-prepend-rank", "--label"]) {
      await types(`banyan run -n 2 ${words} solver.c`, { out: ["[0] 0 of 2", "[1] 1 of 2"] });
    }
  },
  "`--output-filename out`": () =>
    types("banyan run -n 4 --output-filename out solver.c >usual && cat out/1/rank.3/stdout && sort usual | head -1", {
      out: ["0 of 4", "3 of 4"],
    }),
  "`--with-ft mpi`, `--enable-recovery`, `-disable-auto-cleanup`": async () => {
    for (const words of ["--with-ft mpi", "--enable-recovery", "-disable-auto-cleanup", "--protocol ulfm"]) {
      await types(`banyan run -n 2 --nodes 2 ${words} survive.c`, { code: 0, out: ["1"] });
    }
    await types("banyan run -n 2 --with-ft no solver.c", { out: worldOf(2) });
  },
  "`--initial-errhandler mpi_errors_return`": () =>
    types("banyan run --initial-errhandler mpi_errors_return bad.c", { out: ["1"] }),
  "`--oversubscribe`, `--allow-run-as-root`": () =>
    types("banyan run -n 9 --oversubscribe --allow-run-as-root solver.c", { out: worldOf(9) }),
  "`--bind-to core`, `--map-by socket`, `--mca …`": () =>
    types("banyan run -n 2 --bind-to core --map-by socket --mca btl tcp,self solver.c", {
      out: worldOf(2),
      err: /--bind-to core has no effect[\s\S]*--map-by socket has no effect[\s\S]*--mca/,
    }),
  "`mpirun --timeout 60`": () =>
    types("banyan run -n 2 --ranks-per-thread 1 --timeout 3 stuck.c", {
      code: 124,
      err: /where the ranks are/,
    }),
  "Ctrl-C": async () => {
    const run = await standing();
    run.child.kill("SIGINT");
    const { code, stderr } = await run.ended;
    assert.equal(code, 130, stderr);
    assert.equal(tables(run), 1);
  },
  "`kill -QUIT`, Ctrl-\\": async () => {
    const run = await standing();
    let asked = 0;
    // The rank that has printed its line may not be waiting yet.
    const isShown = (): boolean => {
      if (/MPI_Recv +rank 1 +5/.test(run.stderr)) return true;
      if (tables(run) === asked && run.child.kill("SIGQUIT")) asked++;
      return false;
    };
    await until(isShown, "the table names the call");
    assert.equal(run.child.exitCode, null, "it goes on");
    run.child.kill("SIGINT");
    await run.ended;
  },
  "`OMPI_COMM_WORLD_RANK`, `_SIZE`, `_LOCAL_RANK`, `PMI_RANK`, `PMI_SIZE`, `MPI_LOCALRANKID`": () =>
    types("banyan run -n 3 --ranks-per-node 2 names.c", { out: ["0 3 0 0 3 0", "1 3 1 1 3 1", "2 3 0 2 3 0"] }),
  "a crash: signal, core file, `gdb`": () =>
    types("banyan cc -g divide.c -o divide.wasm && banyan run divide.wasm", {
      code: 136,
      err: /division by zero[\s\S]*main[\s\S]*divide\.c:\d+/,
    }),
  "silence while it runs": () =>
    types("banyan run -n 2 solver.c 2>&1 | cat -v", { out: /^(\d of 2\n){2}banyan: 2 ranks on 1 node, .* exit 0\n$/ }),
  "a native binary": () => types('banyan run "$(type -P true)"', { code: 2, err: /native.*banyan cc/ }),
  "`from mpi4py import MPI`": () => types("banyan run -n 2 lines.ts", { out: ['{"word":"object"} 3,7,11'] }),
  "`comm = MPI.COMM_WORLD`, `comm.Get_rank()`": () => types("banyan run -n 2 solver.ts", { out: worldOf(2) }),
  "`comm.send(obj, dest=1, tag=7)`, `comm.recv(source=0)`": () =>
    pageSays("lines.ts", "send(object, { dest: 1, tag: 7 })"),
  "`comm.Send([a, MPI.DOUBLE], 1)`, `comm.Recv(a, 0)`": () => pageSays("lines.ts", "world.recv(array, { source: 0 })"),
  "`req = comm.irecv(…); req.wait()`": () => pageSays("lines.ts", "const request = world.irecv(array, { source: 0 })"),
  "`mpiexec -n 4 python solver.py`": async () => {
    await types("banyan run -n 4 solver.ts", { out: worldOf(4) });
    await types("npx -p banyan mpiexec -n 4 solver.ts", { out: worldOf(4) });
  },
  "the end of the program finalizes MPI": () => types("banyan run -n 2 solver.ts", { code: 0, out: worldOf(2) }),
};

/** The program that another row runs does it in the page's words. */
async function pageSays(name: string, words: string): Promise<void> {
  assert.ok(page.includes(words), `the page says ${words}`);
  assert.ok(sources[name]!.includes(words), `${name} does it`);
}

const page = readFileSync("docs/coming-from.md", "utf8");

/** First cells of its tables, without their headings. */
function habitsOfPage(): string[] {
  const lines = page.split("\n");
  return lines.flatMap((line, at) => {
    const isRow = line.startsWith("| ") && !lines[at + 1]?.startsWith("|---");
    return isRow ? [line.slice(2, line.indexOf(" | "))] : [];
  });
}

test("M7: each habit of the page is tried, and none that it does not have", () => {
  assert.deepEqual(Object.keys(habits), habitsOfPage());
});

for (const [habit, follow] of Object.entries(habits)) test(`M7: the page followed: ${habit}`, long, follow);
