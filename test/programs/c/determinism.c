/* Programs that are send-deterministic, and programs that are not: the first argument says which. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size;

/* Tasks go to whoever asks first: what a worker is sent depends on the order of requests. */
static void farm(void) {
    int word = rank, task = 0, left = size - 1;
    if (rank == 0) {
        while (left > 0) {
            MPI_Status status;
            MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            int given = task < 20 ? task++ : -1;
            if (given < 0) left--;
            MPI_Send(&given, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
        }
        return;
    }
    for (int given = 0; given >= 0;) {
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(&given, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Contributions come in any order; integers have one sum. */
static void sum_of_integers(void) {
    for (int round = 0; round < 5; round++) {
        int value = 1000 * round + rank, sum = 0;
        if (rank == 0) {
            for (int i = 1; i < size; i++) {
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                sum += value;
            }
            for (int i = 1; i < size; i++) MPI_Send(&sum, 1, MPI_INT, i, round, MPI_COMM_WORLD);
        } else {
            MPI_Send(&value, 1, MPI_INT, 0, round, MPI_COMM_WORLD);
            MPI_Recv(&sum, 1, MPI_INT, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* Floating-point numbers have not: the last bit depends on the order. */
static void sum_of_floats(void) {
    for (int round = 0; round < 5; round++) {
        double value = 1.0 / (3 + round), sum = 0;
        for (int i = 0; i < rank; i++) value *= 1e5;
        if (rank == 0) {
            for (int i = 1; i < size; i++) {
                MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                sum += value;
            }
            MPI_Send(&sum, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else {
            MPI_Send(&value, 1, MPI_DOUBLE, 0, round, MPI_COMM_WORLD);
            if (rank == 1) MPI_Recv(&sum, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* How often it looks is chance, what it sends is not. */
static void polls(void) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    long looks = 0;
    for (int round = 0; round < 5; round++) {
        int value = rank + round, other = 0, flag = 0;
        MPI_Request receive, send;
        MPI_Irecv(&other, 1, MPI_INT, before, 0, MPI_COMM_WORLD, &receive);
        MPI_Isend(&value, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &send);
        while (!flag) {
            MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
            looks++;
        }
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Send(&other, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
        for (flag = 0; !flag; looks++) MPI_Iprobe(before, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Recv(&other, 1, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    printf("looked %ld times\n", looks);
}

/* Sends how often it looked. */
static void polls_and_tells(void) {
    int before = (rank + size - 1) % size, flag = 0, value = 0;
    long looks = 0;
    MPI_Request receive;
    MPI_Irecv(&value, 1, MPI_INT, before, 0, MPI_COMM_WORLD, &receive);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    for (; !flag; looks++) MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &looks, &looks, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* Tells the time. */
static void clock_of(int is_of_day) {
    double now = is_of_day ? (double)time(NULL) : MPI_Wtime();
    if (rank == 0) MPI_Send(&now, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&now, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The same messages to two ranks, in the order in which these asked. */
static void answers_in_order_of_requests(void) {
    int word = 0;
    if (rank == 0) {
        for (int i = 1; i < size; i++) {
            MPI_Status status;
            MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            word = 10 * status.MPI_SOURCE;
            MPI_Send(&word, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD);
        }
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Collectives, some of which go on while others do, messages of other communicators, random numbers. */
static void collectives(void) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    extern int getentropy(void *, size_t);
    unsigned draw;
    getentropy(&draw, sizeof draw);
    double one = rank + 0.1, sum = 0, many[100] = {draw};
    unsigned drawn[64] = {0};
    MPI_Request requests[3];
    MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(many, 100, MPI_DOUBLE, size - 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Iallgather(&draw, 1, MPI_UNSIGNED, drawn, 1, MPI_UNSIGNED, half, &requests[2]);
    int value = rank, other = 0;
    MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 3, &other, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    int index;
    for (int i = 0; i < 3; i++) MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "farm")) farm();
    if (!strcmp(what, "integers")) sum_of_integers();
    if (!strcmp(what, "floats")) sum_of_floats();
    if (!strcmp(what, "polls")) polls();
    if (!strcmp(what, "tells")) polls_and_tells();
    if (!strcmp(what, "clock")) clock_of(0);
    if (!strcmp(what, "day")) clock_of(1);
    if (!strcmp(what, "answers")) answers_in_order_of_requests();
    if (!strcmp(what, "collectives")) collectives();
    if (!strcmp(what, "input")) getchar();
    if (!strcmp(what, "spawn")) {
        MPI_Comm children;
        MPI_Comm_spawn("child", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
