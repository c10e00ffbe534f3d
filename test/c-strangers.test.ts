/** What programs of strangers ask for when they start, and what they rely on: answered truthfully. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, program } from "./harness.ts";
import { longUnless } from "./long.ts";

/** A machine that compiles for the first time, and does other things as well. */
const patient = { timeoutMs: 120_000 };

async function outputOf(name: string, text: string, ...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await banyan(["run", ...options, program(name, text)], patient);
  assert.equal(code, 0, stderr);
  return stdout;
}

test("M6 §11.6: MPI_Init_thread promises what a program with one thread can rely on", async () => {
  const text = `#include <mpi.h>
  #include <pthread.h>
  #include <stdio.h>
  static void *nothing(void *x) { return x; }
  int main(int argc, char **argv) {
    int provided, queried, is_main;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Query_thread(&queried);
    MPI_Is_thread_main(&is_main);
    printf("%d %d %d ", provided == MPI_THREAD_FUNNELED, queried == provided, is_main);
    printf("%s\\n", pthread_create(&thread, NULL, nothing, NULL) == 0 ? "a thread" : "no threads");
    return MPI_Finalize();
  }`;
  assert.equal(await outputOf("thread-level.c", text), "1 1 1 no threads\n");
});

test("M6: the C library answers what programs ask at the start", async () => {
  const text = `#define _GNU_SOURCE
  #include <arpa/inet.h>
  #include <netdb.h>
  #include <sched.h>
  #include <stdio.h>
  #include <stdlib.h>
  #include <string.h>
  #include <sys/resource.h>
  #include <sys/stat.h>
  #include <sys/times.h>
  #include <sys/utsname.h>
  #include <unistd.h>
  int main(void) {
    char name[256];
    struct utsname system;
    struct rusage usage;
    struct tms times_used;
    struct hostent *host;
    cpu_set_t set, other;
    /* One processor, the same by every way of asking. */
    CPU_ZERO(&set);
    CPU_SET(70, &set);
    printf("%d %d ", CPU_COUNT(&set), CPU_ISSET(70, &set) && !CPU_ISSET(71, &set));
    printf("%d %d ", sched_setaffinity(0, sizeof set, &set), sched_getaffinity(0, sizeof set, &set));
    printf("%d %d %d ", CPU_COUNT(&set), CPU_ISSET(0, &set), sched_setaffinity(0, sizeof set, &set));
    printf("%ld %ld %d\\n", sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_NPROCESSORS_CONF), sched_getcpu());
    CPU_ZERO(&other);
    CPU_SET(0, &other);
    printf("%d\\n", CPU_EQUAL(&set, &other));
    /* The machine knows its own name and address, and no other. */
    gethostname(name, sizeof name);
    uname(&system);
    host = gethostbyname(name);
    printf("%d %s ", strcmp(name, system.nodename), inet_ntoa(*(struct in_addr *)host->h_addr));
    printf("%d %d %d\\n", strcmp(host->h_name, name), gethostbyname("localhost") == NULL, gethostbyname("no.such.host") == NULL);
    printf("%d %d\\n", getrusage(RUSAGE_SELF, &usage), usage.ru_maxrss > 0);
    printf("%d %ld\\n", times(&times_used) != (clock_t)-1, sysconf(_SC_CLK_TCK));
    printf("%d %u %d\\n", getppid() > 0, alarm(0), umask(022) <= 0777);
    return 0;
  }`;
  const lines = ["1 1 -1 0 1 1 0 1 1 0", "1", "0 127.0.0.1 0 0 1", "0 1", "1 100", "1 0 1", ""];
  assert.deepEqual((await outputOf("asks.c", text)).split("\n"), lines);
});

for (const where of [
  ["-n", "1"],
  ["-n", "2"],
  ["-n", "2", "--nodes", "2"],
]) {
  test(
    `M2 §3.6: the space of a buffered send is free when its message has been received: ${where.join(" ")}`,
    longUnless(where.length > 2),
    async () => {
      const text = `#include <mpi.h>
    #include <stdio.h>
    #include <stdlib.h>
    int main(int argc, char **argv) {
      int rank, size, lengths[] = { 0, 8, 8192, 100000, 1000000 }, errors = 0, word = 0, got;
      char *data = malloc(1000000), *space = malloc(1000000 + MPI_BSEND_OVERHEAD);
      void *back;
      MPI_Request request;
      MPI_Init(&argc, &argv);
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      MPI_Comm_size(MPI_COMM_WORLD, &size);
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
      for (int i = 0; i < 5; i++) {
        int peer = (rank + 1) % size;
        MPI_Buffer_attach(space, lengths[i] + MPI_BSEND_OVERHEAD);
        for (int round = 0; round < 10; round++) {
          errors += MPI_Bsend(data, lengths[i], MPI_BYTE, peer, 1, MPI_COMM_WORLD) != MPI_SUCCESS;
          if (round >= 5) MPI_Buffer_iflush(&request);
          MPI_Recv(data, lengths[i], MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          /* The other says that it has ours. */
          if (size > 1) MPI_Sendrecv(&word, 1, MPI_INT, peer, 2, &got, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          if (round >= 5 && round % 2) MPI_Wait(&request, MPI_STATUS_IGNORE);
          else if (round >= 5) MPI_Request_free(&request);
        }
        MPI_Buffer_flush();
        MPI_Buffer_detach(&back, &got);
        errors += back != space || got != lengths[i] + MPI_BSEND_OVERHEAD;
      }
      printf("%d errors\\n", errors);
      return MPI_Finalize();
    }`;
      const said = await outputOf("buffered.c", text, ...where);
      assert.equal(said, "0 errors\n".repeat(Number(where[1])));
    },
  );
}
