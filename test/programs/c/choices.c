/* Prints everything it sees that could have been otherwise: tests, probes, which request was first, clocks. With
 * an argument it leaves the probes out. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { MAX = 16 };
static int rank, size, in[MAX], out[MAX];
static MPI_Request receives[MAX], sends[MAX];

static void exchange(int tag) {
    for (int peer = 0; peer < size; peer++) {
        out[peer] = 1000 * tag + 10 * rank + peer;
        MPI_Irecv(&in[peer], 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &receives[peer]);
        MPI_Isend(&out[peer], 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &sends[peer]);
    }
}

static void send(int tag) {
    for (int peer = 0; peer < size; peer++) {
        out[peer] = 1000 * tag + 10 * rank + peer;
        MPI_Isend(&out[peer], 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &sends[peer]);
    }
}

static void printIndices(int count, const int *indices) {
    printf(" [");
    for (int i = 0; i < count; i++) printf("%d,", indices[i]);
    printf("]");
}

static void tests(void) {
    int flag, index, count, indices[MAX];
    exchange(1);
    for (flag = 0; !flag;) {
        MPI_Test(&receives[0], &flag, MPI_STATUS_IGNORE);
        printf("%d", flag);
    }
    for (flag = 0; !flag;) {
        MPI_Request_get_status(receives[1], &flag, MPI_STATUS_IGNORE);
        printf(" %d", flag);
        MPI_Request_get_status_any(size, receives, &index, &flag, MPI_STATUS_IGNORE);
        printf(":%d", index);
        MPI_Testall(size, receives, &flag, MPI_STATUSES_IGNORE);
    }
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
    exchange(2);
    for (;;) {
        MPI_Testany(size, receives, &index, &flag, MPI_STATUS_IGNORE);
        if (flag && index == MPI_UNDEFINED) break;
        printf(" %d", flag ? in[index] : -1);
    }
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
    exchange(3);
    for (;;) {
        MPI_Testsome(size, receives, &count, indices, MPI_STATUSES_IGNORE);
        if (count == MPI_UNDEFINED) break;
        printIndices(count, indices);
    }
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
    printf("\n");
}

static void waits(void) {
    int index, count, indices[MAX];
    exchange(4);
    for (int i = 0; i < size; i++) {
        MPI_Waitany(size, receives, &index, MPI_STATUS_IGNORE);
        printf(" %d", in[index]);
    }
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
    exchange(5);
    for (;;) {
        MPI_Waitsome(size, receives, &count, indices, MPI_STATUSES_IGNORE);
        if (count == MPI_UNDEFINED) break;
        printIndices(count, indices);
    }
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
    printf("\n");
}

static void probes(void) {
    MPI_Status status;
    MPI_Message message;
    int flag, value;
    send(6);
    for (int found = 0; found < size; found += flag) {
        MPI_Iprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &flag, &status);
        printf("%d", flag);
        if (flag) MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 6, MPI_COMM_WORLD, &status);
        if (flag) printf("(%d)", value);
    }
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
    send(7);
    for (int found = 0; found < size; found += flag) {
        MPI_Improbe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, &message, &status);
        printf("%d", flag);
        if (flag) MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
        if (flag) printf("(%d)", value);
    }
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
    send(8);
    for (int found = 0; found < size; found++) {
        MPI_Probe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &status);
        MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 8, MPI_COMM_WORLD, &status);
        printf(" %d", value);
    }
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
    send(9);
    for (int found = 0; found < size; found++) {
        MPI_Mprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
        printf(" %d", value);
    }
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
    printf("\n");
}

static void clocks(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%.9f %lld.%ld", MPI_Wtime(), (long long)now.tv_sec, now.tv_nsec);
    clock_gettime(CLOCK_REALTIME, &now);
    printf(" %lld.%ld\n", (long long)now.tv_sec, now.tv_nsec);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 2; round++) {
        tests();
        clocks();
        waits();
        if (argc == 1) probes();
        clocks();
    }
    MPI_Finalize();
    return 0;
}
