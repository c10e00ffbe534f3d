/*
 * A send-deterministic program whose receives are not: every rank gathers from any source in every round, passes large and small
 * messages round, and prints what it has. All of it is the same whoever dies, as long as each rank has one replica.
 *
 *     banyan run -n 4 replicas.c [rounds] [microseconds of each] [named: every receive names its source]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { large = 20000 };

static double sent[large], received[large];

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    int pause_us = argc > 2 ? atoi(argv[2]) : 0;
    int is_named = argc > 3;
    long offset = 0;
    if (rank == 0) {
        char line[64];
        while (fgets(line, sizeof line, stdin)) offset += atoi(line);
    }
    MPI_Bcast(&offset, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    int chance = rand();
    double all = 0;
    for (int round = 0; round < rounds; round++) {
        int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
        long mine = offset + rank * 100 + round, sum = 0, value;
        for (int other = 0; other < ranks; other++)
            if (other != rank) MPI_Send(&mine, 1, MPI_LONG, other, 1, MPI_COMM_WORLD);
        for (int i = 1; i < ranks; i++) {
            int source = is_named ? (rank + i) % ranks : MPI_ANY_SOURCE;
            MPI_Recv(&value, 1, MPI_LONG, source, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += value;
        }
        for (int i = 0; i < large; i++) sent[i] = sum + i;
        MPI_Request request;
        MPI_Irecv(received, large, MPI_DOUBLE, before, 2, MPI_COMM_WORLD, &request);
        MPI_Send(sent, large, MPI_DOUBLE, next, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        double got = received[round % large];
        MPI_Allreduce(&got, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (round == 0) printf("at work\n");
        if (round % 10 == 0) printf("round %d: %.0f\n", round, all);
        fflush(stdout);
        if (pause_us > 0) usleep(pause_us);
    }
    printf("rank %d of %d: %.0f, pid %d, chance %d\n", rank, ranks, all, (int)getpid(), chance);
    MPI_Finalize();
    return 0;
}
