/*
 * A program whose result depends on the order in which everything came out: receives from any source, probes and tests with
 * their misses, waits for any of several requests, clocks. Every rank tells all others its state in every round, and prints
 * it now and then. At the end all compare what they were told with what the others then say they told: a rank that was
 * restarted and took another path than its first life cannot hide it, and what it had printed does not fit its last line.
 *
 *     banyan run -n 4 orders.c [rounds] [work]
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { message_bytes_max = 100 * 1024, ranks_max = 64, print_rounds = 20 };

struct message {
    uint64_t state;
    int32_t round, source;
};

static int rank, ranks, rounds, work;
static uint64_t state;
static uint64_t *told;   /* by round: what this rank has told all others */
static uint64_t *heard;  /* by rank and round: what this rank was told */
static char *sent[ranks_max], *received[ranks_max];
static MPI_Request sends[ranks_max], receives[ranks_max];

static uint64_t mixed(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdu;
    return hash ^ (hash >> 33);
}

static void see(uint64_t value) { state = mixed(state, value); }

/* Small, of a few packets, and so large that it is announced first. */
static int bytes_in(int round) {
    if (round % 16 == 7) return message_bytes_max;
    return round % 8 == 3 ? 20 * 1024 : (int)sizeof(struct message);
}

static void fill(char *buffer, int round) {
    struct message head = {state, round, rank};
    for (int i = (int)sizeof head; i < bytes_in(round); i += 97) buffer[i] = (char)(state + (uint64_t)i);
    memcpy(buffer, &head, sizeof head);
}

static void wrong(const char *what, int peer, int round) {
    printf("rank %d: WRONG: %s of rank %d in round %d\n", rank, what, peer, round);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void take(const char *buffer, const MPI_Status *status, int round) {
    struct message head;
    int bytes;
    memcpy(&head, buffer, sizeof head);
    MPI_Get_count(status, MPI_BYTE, &bytes);
    if (head.source != status->MPI_SOURCE || head.round != round || bytes != bytes_in(round))
        wrong("the message", status->MPI_SOURCE, round);
    for (int i = (int)sizeof head; i < bytes; i += 97)
        if (buffer[i] != (char)(head.state + (uint64_t)i)) wrong("the bytes", head.source, round);
    heard[(size_t)head.source * (size_t)rounds + (size_t)round] = head.state;
    see((uint64_t)head.source);
    see(head.state);
}

static void in_any_order(int round) {
    MPI_Status status;
    for (int left = ranks - 1; left > 0; left--) {
        MPI_Recv(received[0], bytes_in(round), MPI_BYTE, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
        take(received[0], &status, round);
    }
}

static void by_probes(int round, int wait) {
    MPI_Status status;
    for (int left = ranks - 1; left > 0; left--) {
        int is_there = wait, misses = 0;
        if (wait) MPI_Probe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
        while (!is_there) {
            MPI_Iprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &is_there, &status);
            if (!is_there) misses++;
        }
        see((uint64_t)misses);
        MPI_Recv(received[0], bytes_in(round), MPI_BYTE, status.MPI_SOURCE, round, MPI_COMM_WORLD, &status);
        take(received[0], &status, round);
    }
}

static void post(int round, int is_named) {
    for (int peer = 0, i = 0; peer < ranks; peer++) {
        if (peer == rank) continue;
        int source = is_named ? peer : MPI_ANY_SOURCE;
        MPI_Irecv(received[i], bytes_in(round), MPI_BYTE, source, round, MPI_COMM_WORLD, &receives[i]);
        i++;
    }
}

static void by_waitany(int round) {
    MPI_Status status;
    int which;
    post(round, 0);
    for (int left = ranks - 1; left > 0; left--) {
        MPI_Waitany(ranks - 1, receives, &which, &status);
        see((uint64_t)which);
        take(received[which], &status, round);
    }
}

static void by_waitsome(int round) {
    MPI_Status statuses[ranks_max];
    int count, which[ranks_max];
    post(round, 1);
    for (int left = ranks - 1; left > 0; left -= count) {
        MPI_Waitsome(ranks - 1, receives, &count, which, statuses);
        see((uint64_t)count);
        for (int i = 0; i < count; i++) take(received[which[i]], &statuses[i], round);
    }
}

static void by_tests(int round) {
    MPI_Status status;
    post(round, round % 2);
    for (int left = ranks - 1, i = 0, misses = 0; left > 0; i = (i + 1) % (ranks - 1)) {
        int is_done = 0;
        if (receives[i] == MPI_REQUEST_NULL) continue;
        MPI_Test(&receives[i], &is_done, &status);
        if (!is_done) misses++;
        else {
            see((uint64_t)misses);
            see((uint64_t)i);
            take(received[i], &status, round);
            left--;
        }
    }
}

static void send_to_all(int round) {
    told[round] = state;
    for (int peer = 0; peer < ranks; peer++) {
        sends[peer] = MPI_REQUEST_NULL;
        if (peer == rank) continue;
        fill(sent[peer], round);
        if (round % 10 == 9) {
            MPI_Issend(sent[peer], bytes_in(round), MPI_BYTE, peer, round, MPI_COMM_WORLD, &sends[peer]);
        } else MPI_Isend(sent[peer], bytes_in(round), MPI_BYTE, peer, round, MPI_COMM_WORLD, &sends[peer]);
    }
}

static void compute(void) {
    volatile uint64_t value = state;
    for (int i = 0; i < work; i++) value = mixed(value, (uint64_t)i);
}

static void one_round(int round) {
    send_to_all(round);
    switch (round % 6) {
    case 0: in_any_order(round); break;
    case 1: by_probes(round, 0); break;
    case 2: by_waitany(round); break;
    case 3: by_probes(round, 1); break;
    case 4: by_tests(round); break;
    default: by_waitsome(round); break;
    }
    MPI_Waitall(ranks, sends, MPI_STATUSES_IGNORE);
    if (round % 7 == 0) see((uint64_t)(MPI_Wtime() * 1e6));
    if (round % 16 == 15) {
        uint64_t sum = 0;
        MPI_Allreduce(&state, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        see(sum);
    }
    compute();
}

/* Everybody says once more what it told in every round. */
static void compare(void) {
    uint64_t *all = malloc((size_t)ranks * (size_t)rounds * sizeof *all);
    MPI_Allgather(told, rounds, MPI_UINT64_T, all, rounds, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int peer = 0; peer < ranks; peer++) {
        if (peer == rank) continue;
        for (int round = 0; round < rounds; round++) {
            size_t at = (size_t)peer * (size_t)rounds + (size_t)round;
            if (all[at] != heard[at]) wrong("what was heard is not what was told", peer, round);
        }
    }
    free(all);
}

int main(int argc, char **argv) {
    uint64_t printed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rounds = argc > 1 ? atoi(argv[1]) : 200;
    work = argc > 2 ? atoi(argv[2]) : 1000;
    if (ranks > ranks_max || ranks < 2) MPI_Abort(MPI_COMM_WORLD, 2);
    state = (uint64_t)rank;
    told = calloc((size_t)rounds, sizeof *told);
    heard = calloc((size_t)ranks * (size_t)rounds, sizeof *heard);
    for (int i = 0; i < ranks; i++) {
        sent[i] = malloc(message_bytes_max);
        received[i] = malloc(message_bytes_max);
    }
    for (int round = 0; round < rounds; round++) {
        one_round(round);
        if ((round + 1) % print_rounds != 0) continue;
        printf("rank %d round %d state %016llx\n", rank, round + 1, (unsigned long long)state);
        printed = mixed(printed, state);
    }
    compare();
    printf("rank %d printed %016llx\n", rank, (unsigned long long)printed);
    printf("rank %d: all %d rounds as told\n", rank, rounds);
    MPI_Finalize();
    return 0;
}
