/** The support library: programs linked with it, run here with imports written by hand. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import binaryen from "binaryen";
import { importedFunctions, signatureOf } from "../../scripts/mpi-wrappers.mjs";
import { check, checkSupportLibrary, link } from "./testing/toolchain.ts";

const pageBytes = 65536;
const memoryPages = 1024;
const memoryBytes = memoryPages * pageBytes;
const ENOSYS = 52;

class Ended extends Error {}

type Import = (...args: number[]) => number | undefined;

interface World {
  /** Functions of module `mpi`; `callback` and `callback_done` among them. */
  readonly mpi?: Readonly<Record<string, Import>>;
  /** Address of the first byte that is not the program's. */
  readonly limit?: number;
}

const noCallbacks = { callback: () => undefined, callback_done: () => 0 };

/** A program that has ended. */
class Run {
  readonly memory = new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages, shared: true });
  readonly bytes = new Uint8Array(this.memory.buffer);
  readonly ints = new Int32Array(this.memory.buffer);
  output = "";
  /** `exit 3`, `signal 6`, or the message of a fatal error. */
  ending = "exit 0";

  constructor(wasm: Uint8Array, world: (run: Run) => World = () => ({})) {
    const { mpi = {}, limit = memoryBytes } = world(this);
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm as Uint8Array<ArrayBuffer>), {
      env: { memory: this.memory },
      mpi,
      wasi_snapshot_preview1: this.#wasi(),
      banyan: {
        getpid: () => 4711,
        hostname: (address: number, room: number) => this.bytes.set(Buffer.from("node7\0").subarray(0, room), address),
        die: (signal: number) => this.#end(`signal ${signal}`),
        fatal: (message: number) => this.#end(this.text(message)),
      },
    });
    this.ints[((exports["banyan_memory"] as WebAssembly.Global).value >> 2) + 1] = limit;
    try {
      (exports["_start"] as () => void)();
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
    }
  }

  #end(ending: string): never {
    this.ending = ending;
    throw new Ended(ending);
  }

  /** The calls that the tests' programs need; all others fail with ENOSYS. */
  #wasi(): Record<string, Import> {
    const known: Record<string, Import> = {
      proc_exit: (code) => this.#end(`exit ${code}`),
      fd_write: (_descriptor, vectors, count, written) => {
        let total = 0;
        for (let at = vectors! >> 2; at < (vectors! >> 2) + 2 * count!; at += 2) {
          const [address, length] = [this.ints[at]!, this.ints[at + 1]!];
          this.output += Buffer.from(this.bytes.slice(address, address + length)).toString();
          total += length;
        }
        this.ints[written! >> 2] = total;
        return 0;
      },
      fd_fdstat_get: () => 0,
      clock_time_get: () => 0,
      environ_sizes_get: (count, bytes) => this.#none(count!, bytes!),
      args_sizes_get: (count, bytes) => this.#none(count!, bytes!),
    };
    return new Proxy(known, { get: (functions, name: string) => functions[name] ?? (() => ENOSYS) });
  }

  #none(count: number, bytes: number): number {
    this.ints[count >> 2] = 0;
    this.ints[bytes >> 2] = 0;
    return 0;
  }

  /** A call answers with a number. */
  answer(address: number, value: number): 0 {
    this.ints[address >> 2] = value;
    return 0;
  }

  text(address: number): string {
    return Buffer.from(this.bytes.slice(address, this.bytes.indexOf(0, address))).toString();
  }
}

const mpiImports = (wasm: Uint8Array): string[] =>
  WebAssembly.Module.imports(new WebAssembly.Module(wasm as Uint8Array<ArrayBuffer>))
    .filter(({ module }) => module === "mpi")
    .map(({ name }) => name)
    .sort();

it("the support library has no warnings", () => checkSupportLibrary());

describe("wrappers of MPI's functions", () => {
  it("are imports of the types that the table says, each of them", async () => {
    const functions = importedFunctions();
    const wasm = await link({
      "all.c": `#include <mpi.h>
        typedef void Function(void);
        Function *volatile functions[] = { ${functions.map(({ name }) => `(Function *)${name}`).join(", ")} };
        int main(void) { functions[0](); return 0; }`,
    });
    const module = binaryen.readBinary(wasm);
    const letter = new Map([
      [binaryen.i32, "i"],
      [binaryen.i64, "l"],
      [binaryen.f64, "d"],
    ]);
    const found: Record<string, string> = {};
    for (let i = 0; i < module.getNumFunctions(); i++) {
      const { module: from, base, params, results } = binaryen.getFunctionInfo(module.getFunctionByIndex(i));
      if (from !== "mpi" || base === null || base.startsWith("callback")) continue;
      found[base] = `${binaryen
        .expandType(params)
        .map((type) => letter.get(type))
        .join("")}>${letter.get(results)}`;
    }
    module.dispose();
    deepEqual(found, Object.fromEntries(functions.map((each) => [each.name, signatureOf(each)])));
  });

  it("are not in a program that does not use them, nor are their imports", async () => {
    const wasm = await link({ "a.c": `#include <mpi.h>\nint main(void) { return MPI_Barrier(MPI_COMM_WORLD); }` });
    deepEqual(mpiImports(wasm), ["MPI_Barrier", "callback", "callback_done"]);
    ok(wasm.length < 4000, `${wasm.length} bytes`);
    const none = await link({ "a.c": "int main(void) { return 0; }" });
    deepEqual(mpiImports(none), []);
  });

  it("give their place to a profiling library", async () => {
    const wasm = await link({
      "a.c": `#include <mpi.h>
        int main(void) { return MPI_Send(0, 1, MPI_INT, 2, 3, MPI_COMM_WORLD) + MPI_Ssend(0, 1, MPI_INT, 2, 3, MPI_COMM_SELF); }`,
      "profile.c": `#include <mpi.h>
        int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
            return PMPI_Send(buf, count, type, dest, tag + 100, comm) + 10;
        }`,
    });
    const tags: number[] = [];
    const note: Import = (_buffer, _count, _type, _to, tag) => tags.push(tag!);
    equal(
      new Run(wasm, () => ({ mpi: { MPI_Send: note, MPI_Ssend: note, callback: note, callback_done: note } })).ending,
      "exit 13",
    );
    deepEqual(tags, [103, 3]);
  });

  it("are not needed for what is known without the runtime", async () => {
    const wasm = await link({
      "a.c": `#include <mpi.h>
        int main(void) {
            if (MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) != MPI_COMM_WORLD || MPI_Type_toint(MPI_INT) != 0x209) return 1;
            return MPI_Aint_diff(MPI_Aint_add(100, 20), 100) == 20 ? 42 : 2;
        }`,
    });
    deepEqual(mpiImports(wasm), []);
    equal(new Run(wasm).ending, "exit 42");
  });

  it("stand for the names that MPI-3 took away", async () => {
    const wasm = await link({
      "a.c": `#include <mpi.h>
        int main(void) {
            MPI_Aint extent, ub;
            if (MPI_Type_extent(MPI_INT, &extent) || MPI_Type_ub(MPI_INT, &ub)) return 1;
            return (int)(extent * 10 + ub);
        }`,
    });
    deepEqual(mpiImports(wasm), ["MPI_Type_get_extent", "callback", "callback_done"]);
    const { ending } = new Run(wasm, (run) => ({
      mpi: {
        MPI_Type_get_extent: (_type, lb, extent) => {
          run.ints[lb! >> 2] = -1;
          run.ints[extent! >> 2] = 5;
          return 0;
        },
        ...noCallbacks,
      },
    }));
    equal(ending, "exit 54");
  });
});

describe("callbacks", () => {
  /** Answers like the runtime: `wanted` are calls (kind, function, arguments), one after another. */
  function runtime(run: Run, wanted: (readonly [number, number, number[]])[], results: number[]) {
    return {
      callback: (call: number) => {
        const [kind, fn, args] = wanted.shift()!;
        run.ints.set([kind, fn, ...args], call >> 2);
        return undefined;
      },
      callback_done: (result: number) => {
        results.push(result);
        return wanted.length > 0 ? -1 : 7;
      },
    };
  }

  it("call functions of every kind, one after another, and answer with the interrupted call's code", async () => {
    const wasm = await link({
      "a.c": `#include <mpi.h>
        static void sum(void *in, void *inout, int *length, MPI_Datatype *type) {
            for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
            if (*type != MPI_INT) *length = -1;
        }
        static void large(void *in, void *inout, MPI_Count *length, MPI_Datatype *type) {
            (void)in, (void)type;
            *(MPI_Count *)inout = *length + 1;
        }
        static void handler(MPI_Comm *comm, int *code, ...) { *code += *comm == MPI_COMM_SELF ? 1000 : 2000; }
        static void plain(MPI_Comm *comm, int *code) { (void)comm; *code += 3000; }
        static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
            (void)comm;
            *(int *)out = (int)in + (int)extra;
            *flag = 1;
            return keyval;
        }
        static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
            return (int)comm + keyval + (int)value + (int)extra;
        }
        static int query(void *extra, MPI_Status *status) { return (int)extra + status->MPI_TAG; }
        static int release(void *extra) { return (int)extra; }
        static int cancel(void *extra, int complete) { return (int)extra + complete; }
        static void *functions[] = {sum, large, handler, copy, delete, query, release, cancel, plain};
        int main(void) { return MPI_Comm_test_inter(MPI_COMM_WORLD, (int *)functions); }`,
    });
    const at = memoryBytes - 4096;
    const results: number[] = [];
    const run = new Run(wasm, (it) => {
      const wanted: [number, number, number[]][] = [];
      return {
        limit: at,
        mpi: {
          ...runtime(it, wanted, results),
          MPI_Comm_test_inter: (_comm, table) => {
            const fn = (kind: number): number => it.ints[(table! >> 2) + kind]!;
            it.ints.set([2, 0x209, 10, 20, 1, 2, 3, 0, 0x102, 5], at >> 2);
            wanted.push([0, fn(0), [at + 8, at + 16, at, at + 4]]);
            wanted.push([1, fn(1), [0, at + 64, at + 24, at + 4]]);
            wanted.push([2, fn(2), [at + 32, at + 36]]);
            wanted.push([8, fn(8), [at + 32, at + 36]]);
            wanted.push([3, fn(3), [0x102, 77, 1000, 234, at + 48, at + 52]]);
            wanted.push([4, fn(4), [1, 2, 4, 8]]);
            wanted.push([5, fn(5), [400, at + 28]]);
            wanted.push([6, fn(6), [500]]);
            wanted.push([7, fn(7), [600, 1]]);
            return -1;
          },
        },
      };
    });
    equal(run.ending, "exit 7");
    deepEqual(results, [0, 0, 0, 0, 77, 15, 400 + 0x102, 500, 601]);
    deepEqual([...run.ints.subarray((at >> 2) + 4, (at >> 2) + 6)], [11, 22]);
    equal(run.ints[(at + 36) >> 2], 5 + 1000 + 3000);
    deepEqual([...run.ints.subarray((at + 48) >> 2, (at + 56) >> 2)], [1234, 1]);
    equal(run.ints[(at + 64) >> 2], 4);
  });

  it("may call MPI functions that call back themselves", async () => {
    const wasm = await link({
      "a.c": `#include <mpi.h>
        static int depth;
        static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
            (void)value, (void)extra;
            return ++depth < 3 ? MPI_Comm_delete_attr(comm, keyval + 1) : 10 * depth + keyval;
        }
        int main(void) { MPI_Comm_set_attr(MPI_COMM_SELF, 0, (void *)delete); return MPI_Comm_delete_attr(MPI_COMM_SELF, 1); }`,
    });
    const keyvals: number[] = [];
    let fn = 0;
    const { ending } = new Run(wasm, (run) => ({
      mpi: {
        MPI_Comm_set_attr: (_comm, _keyval, pointer) => {
          fn = pointer!;
          return 0;
        },
        MPI_Comm_delete_attr: (_comm, keyval) => {
          keyvals.push(keyval!);
          return -1;
        },
        callback: (call) => {
          run.ints.set([4, fn, 0x102, keyvals.at(-1)!], call! >> 2);
          return undefined;
        },
        callback_done: (result) => result! + 1,
      },
    }));
    deepEqual(keyvals, [1, 2, 3]);
    equal(ending, "exit 36");
  });

  it("never use the numbers that MPI has for its own functions", async () => {
    const wasm = await link({
      "a.c": `#include <mpi.h>
        static int copy(MPI_Comm c, int k, void *e, void *i, void *o, int *f) { (void)c, (void)e, (void)i, (void)o, (void)f; return k; }
        int main(void) { int key; return MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, 0); }`,
    });
    const { ending } = new Run(wasm, () => ({
      mpi: { ...noCallbacks, MPI_Comm_create_keyval: (copy) => copy },
    }));
    equal(ending, "exit 16");
  });
});

describe("memory", () => {
  it("is the program's up to the limit, and malloc says so beyond it", async () => {
    const wasm = await link({
      "a.c": `#include <errno.h>
        #include <malloc.h>
        #include <stdint.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        /* Clang knows malloc and would optimise the call away. */
        static void *(*volatile allocate)(size_t) = malloc;
        static void *(*volatile allocateZeros)(size_t, size_t) = calloc;
        int main(void) {
            char *end = sbrk(0);
            for (size_t size = 1; size < 20000000; size = size * 3 + 1) {
                char *a = allocate(size), *b = allocateZeros(size, 1);
                if (a == NULL || b == NULL) return printf("no %zu bytes\\n", size), 1;
                memset(a, 0xaa, size);
                for (size_t i = 0; i < size; i++) if (b[i] != 0) return 2;
                free(a), free(b);
            }
            if (sbrk(0) <= end) return 3;
            errno = 0;
            if (allocate(70000000) != NULL || errno != ENOMEM) return 4;
            errno = 0;
            if (allocate(3000000000u) != NULL || errno != ENOMEM) return 5;
            if ((uintptr_t)memalign(4096, 10) % 4096 != 0) return 6;
            size_t total = 0;
            for (char *block; (block = allocate(100000)) != NULL; total += 100000) memset(block, 0xbb, 100000);
            if (sbrk(1 << 26) != (void *)-1 || sbrk(-1) != (void *)-1 || errno != ENOMEM) return 7;
            printf("%zu %zu", total, (size_t)sbrk(0));
            return 0;
        }`,
    });
    const limit = memoryBytes - 5 * pageBytes - 128;
    const run = new Run(wasm, () => ({ limit }));
    equal(run.ending, "exit 0");
    const [total, end] = run.output.split(" ").map(Number);
    ok(end! <= limit && end! > limit - 2 * pageBytes, `the heap ends at ${end}, the limit is ${limit}`);
    ok(total! > 0.97 * limit, `${total} bytes of ${limit}`);
    ok(run.bytes.subarray(limit).every((byte) => byte === 0));
  });
});

describe("the C library's gaps", () => {
  it("processes: who a rank is, and what it cannot do", async () => {
    const wasm = await link({
      "a.c": `#include <errno.h>
        #include <netdb.h>
        #include <pwd.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/resource.h>
        #include <sys/stat.h>
        #include <sys/time.h>
        #include <sys/utsname.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(void) {
            char name[65];
            struct rusage usage;
            struct rlimit limit;
            int status;
            gethostname(name, sizeof name);
            printf("%d %d %s;", (int)getpid(), (int)getuid() == (int)geteuid(), name);
            printf("%d %d;", getrusage(RUSAGE_SELF, &usage), usage.ru_maxrss > 0);
            printf("%d %d;", getrlimit(RLIMIT_AS, &limit), limit.rlim_cur > 1000000);
            printf("%d %d;", fork(), errno == ENOSYS);
            printf("%d %d;", system("ls"), system(NULL));
            printf("%d %d;", (int)waitpid(-1, &status, WNOHANG), errno == ECHILD);
            printf("%d %d;", popen("ls", "r") == NULL, gethostbyname("x") == NULL);
            printf("%d %d;", getpwuid(getuid()) == NULL, (int)umask(077));
            errno = 0;
            printf("%u %d", alarm(3), errno == ENOSYS);
            return 0;
        }`,
    });
    equal(new Run(wasm).output, "4711 1 node7;0 1;0 1;-1 1;-1 0;-1 1;1 1;1 18;0 1");
  });

  it("signals: handlers, masks, and the death of a rank", async () => {
    const wasm = await link({
      "a.c": `#include <signal.h>
        #include <stdio.h>
        #include <unistd.h>
        static void note(int signal) { printf("%d ", signal); }
        static void tell(int signal, siginfo_t *info, void *context) { (void)context; printf("%d=%d ", signal, info->si_signo); }
        int main(void) {
            struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESETHAND};
            sigset_t set;
            action.sa_sigaction = tell;
            if (signal(SIGUSR1, note) != SIG_DFL || sigaction(SIGUSR2, &action, NULL) != 0) return 1;
            if (signal(SIGKILL, note) != SIG_ERR || raise(99) != -1 || kill(1, SIGTERM) != -1) return 2;
            raise(SIGUSR1);
            kill(getpid(), SIGUSR2);
            sigemptyset(&set);
            sigaddset(&set, SIGUSR1);
            sigprocmask(SIG_BLOCK, &set, NULL);
            raise(SIGUSR1);
            printf("held ");
            sigprocmask(SIG_UNBLOCK, &set, NULL);
            if (signal(SIGTERM, SIG_IGN) != SIG_DFL) return 3;
            raise(SIGTERM);
            raise(SIGCHLD);
            printf("%d", sigismember(&set, SIGUSR1));
            fflush(stdout);
            return raise(SIGUSR2);
        }`,
    });
    const run = new Run(wasm);
    equal(run.output, "10 12=12 held 10 1");
    equal(run.ending, "signal 12");
  });

  it("abort() and a failed assertion are SIGABRT", async () => {
    const wasm = await link({
      "a.c": `#include <assert.h>
        #include <mpi.h>
        #include <stdlib.h>
        int main(void) {
            int number;
            MPI_Comm_rank(MPI_COMM_WORLD, &number);
            if (number == 0) abort();
            assert(number == 2);
            return 0;
        }`,
    });
    const [aborted, failed] = [0, 1].map(
      (number) =>
        new Run(wasm, (it) => ({ mpi: { ...noCallbacks, MPI_Comm_rank: (_comm, at) => it.answer(at!, number) } })),
    );
    equal(aborted!.ending, "signal 6");
    equal(failed!.ending, "signal 6");
    ok(failed!.output.includes("number == 2"), failed!.output);
  });

  it("its headers compile as C89 and C++", async () => {
    const headers = ["malloc", "netdb", "pwd", "signal", "stdio", "stdlib", "unistd"];
    const more = ["sys/resource", "sys/stat", "sys/time", "sys/wait"];
    const text = [...headers, ...more].map((name) => `#include <${name}.h>`).join("\n");
    const program = `${text}\nint main(void) { char name[L_tmpnam]; return tmpnam(name) == 0 || tmpfile() == 0; }\n`;
    await check("a.c", program, "-std=c89", "-D_GNU_SOURCE", "-Wall", "-Wextra");
    const cxx = `#include <csignal>\n#include <cstdio>\n#include <cstdlib>\n${program}`;
    await check("a.cpp", cxx, "-std=c++17", "-Wall", "-Wextra");
  });
});

describe("a C++ exception", () => {
  const gone = "C++ exceptions are not supported: throw of";
  const cases: readonly (readonly [what: string, ending: string])[] = [
    [`throw deep::Mine("no such file")`, `${gone} deep::Mine: no such file`],
    [`throw std::out_of_range("7")`, `${gone} std::out_of_range: 7`],
    ["throw deep::Bare()", `${gone} deep::Bare`],
    ["throw 5", `${gone} int`],
    [`throw "text"`, `${gone} const char *`],
    ["break", "exit 0"],
  ];

  // One program of all cases: to compile and link C++ takes longer than everything else here.
  it("ends the rank and says what was thrown, and is no matter where nothing is", async () => {
    const wasm = await link({
      "a.cpp": `#include <mpi.h>
        #include <stdexcept>
        namespace deep { struct Mine : std::runtime_error { using std::runtime_error::runtime_error; }; struct Bare {}; }
        int main() {
          int number;
          MPI_Comm_rank(MPI_COMM_WORLD, &number);
          try { switch (number) { ${cases.map(([what], number) => `case ${number}: ${what};`).join("\n")} } }
          catch (...) { return 3; }
          return 0;
        }`,
    });
    for (const [number, [what, ending]] of cases.entries()) {
      const run = new Run(wasm, (it) => ({
        mpi: { ...noCallbacks, MPI_Comm_rank: (_comm, at) => it.answer(at!, number) },
      }));
      equal(run.ending, ending, what);
    }
  });
});
